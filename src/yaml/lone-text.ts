import { NO_SPACE_AFTER_DASH, noColon, noSpace } from './block-mends.ts'

/**
 * Why a text may stand where a mapping or a list is wanted: an only entry without its colon is no fault of the syntax.
 *
 * @param keys what may stand in the mapping; only such a key is named, anything else may be a secret
 */
export function loneText(text: unknown, keys: readonly string[]): string | undefined {
  if (typeof text !== 'string') return undefined
  if (/^-\S/.test(text)) return NO_SPACE_AFTER_DASH
  const [, key = '', glued] = /^([\w$.-]+)(?:(:)(?!\/\/)(?=\S)|(?=\s|$))/.exec(text) ?? []
  if (!keys.includes(key)) return undefined
  return glued === undefined ? noColon(key) : noSpace(key)
}
