const MAX_JSON = 65_536
const MAX_TEXT = 4096

/** Human text made comparable: lower case, no links, no punctuation but what belongs to numbers. */
export function normalise(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(/https?:\/\/\S+/gi, ' ')
    .toLowerCase()
    .replace(/(\d),(?=\d{3}\b)/g, '$1')
    .replace(/[’‘`]/g, "'")
    .replace(/\bcan(?:no|')t\b/g, 'can not')
    .replace(/n't\b/g, ' not')
    .replace(/[^a-z0-9<>.' ]+/g, ' ')
    .replace(/\.(?!\d)|'/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A code made comparable: `rate_limit_exceeded`, `RateLimitExceeded` and `rate-limit-exceeded` are one. */
export const toToken = (code: string): string => code.toLowerCase().replace(/[^a-z0-9]/g, '')

/** A word such as `model_not_found`, not a sentence. */
export const isCode = (text: string): boolean => /^[A-Za-z][\w.:/-]{1,100}$/.test(text)

export const isHtml = (text: string): boolean => /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)

/** JSON in a text, whole or after a prefix: SDKs put the provider's body into their message. */
export function jsonIn(text: string): { readonly prefix: string; readonly value: unknown } | undefined {
  if (text.length > MAX_JSON) return undefined
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  if (start < 0 || end < start) return undefined
  try {
    return { prefix: text.slice(0, start), value: JSON.parse(text.slice(start, end + 1)) }
  } catch {
    return undefined
  }
}

const identifiers =
  /\b(?:[A-Z][A-Za-z]+(?:Error|Exception)|UND_ERR_[A-Z_]+|ERR_[A-Z_]+|E(?:CONN|HOST|NET|PIPE|TIMED|NOTFOUND|AI_)[A-Z_]*)\b/g

/** Class names and codes that stand inside a text, as proxies write them. */
export const identifiersIn = (text: string): readonly string[] =>
  text.slice(0, MAX_TEXT).match(identifiers) ?? []
