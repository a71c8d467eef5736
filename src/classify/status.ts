import type { FailureKind } from './verdict.ts'

const byStatus: Readonly<Record<number, FailureKind>> = {
  401: 'auth',
  402: 'quota_exhausted',
  403: 'auth',
  404: 'not_found',
  408: 'timeout',
  410: 'not_found',
  429: 'rate_limit',
  529: 'overloaded',
}

/** What a status alone says. Below 400 it says nothing: an error with status 200 is still an error. */
export function kindOfStatus(statuses: readonly number[]): FailureKind | undefined {
  const status = statuses.find((candidate) => candidate >= 400)
  if (status === undefined) return undefined
  return byStatus[status] ?? (status >= 500 ? 'server_error' : 'invalid_request')
}

const inText = /(?:\bstatus(?: code)?|\bhttp(?:\/\d(?:\.\d)?)?|\berror code|^)[\s:=-]*([45]\d\d)\b(?!\.)/i

/** The status written into a text ("503 Service Unavailable", "status code 429"): the last thing to go by. */
export const statusesInTexts = (texts: readonly string[]): readonly number[] =>
  texts.flatMap((text) => {
    const found = inText.exec(text)?.[1]
    return found === undefined ? [] : [Number(found)]
  })
