import type { CaseInput } from '../../src/testing/classify-case.ts'

/** How many ways {@link reword} knows. */
export const rewordings = 3

type Choice = readonly [RegExp, ...(readonly string[])]

/** What another author would have written; longer phrases first. One replacement for each variant. */
const phrases: readonly Choice[] = [
  [/\bplease try again in\b/gi, 'you may retry in', 'try again in', 'come back in'],
  [/\bplease retry after\b/gi, 'try again after', 'retry in', 'wait'],
  [
    /\bplease (?:try|retry)(?: again)?( later| shortly)?\b/gi,
    'have another go in a while',
    'retry later',
    'try once more soon',
  ],
  [
    /\brate limit (?:reached|exceeded)\b/gi,
    'you hit the rate limit',
    'too many requests',
    'the rate limit was surpassed',
  ],
  [
    /\bmaximum context length is\b/gi,
    'context window holds at most',
    'context limit is',
    'maximum context size is',
  ],
  [
    /\bcontext size has been exceeded\b/gi,
    'the context window overflowed',
    'exceeded the context limit',
    'context length surpassed',
  ],
  [
    /\b(?:prompt|input) is too long\b/gi,
    'the prompt is longer than allowed',
    'your input is too lengthy',
    'too many tokens in the prompt',
  ],
  [
    /\bexceeds the maximum number of tokens allowed\b/gi,
    'is greater than the token maximum',
    'is beyond the limit of tokens permitted',
    'goes over the allowed tokens, at most',
  ],
  [/\brequest too large\b/gi, 'this request is too big', 'request is too large', 'too large a request'],
  [/\bmust be reduced\b/gi, 'should be reduced', 'have to shrink', 'need cutting'],
  [/\bcurrently overloaded\b/gi, 'at capacity just now', 'overloaded at the moment', 'facing heavy load'],
  [/\boverloaded\b/gi, 'over capacity', 'experiencing high demand', 'under excessive load'],
  [/\bcurrently loading\b/gi, 'still loading', 'being loaded right now', 'warming up'],
  [
    /\bcredit balance is too low\b/gi,
    'account balance is insufficient',
    'prepaid credits are exhausted',
    'remaining credit does not suffice',
  ],
  [/\binsufficient balance\b/gi, 'not enough balance', 'balance too low', 'account funds are depleted'],
  [/\bused all available credits\b/gi, 'spent every credit it had', 'run out of credits', 'no credits left'],
  [/\bspending limit\b/gi, 'spending cap', 'budget for the month', 'spend limit'],
  [/\bpurchase\b/gi, 'buy', 'acquire', 'add'],
  [/\bhas been disabled\b/gi, 'was deactivated', 'is suspended', 'has been switched off'],
  [/\b(?:does not exist|not found)\b/gi, 'could not be found', 'is unknown', 'is not available'],
  [/\bisn[’']t supported\b/gi, 'is unsupported', 'is not possible', 'cannot be used'],
  [/\bcontent filtering policy\b/gi, 'content filter', 'content policy', 'content moderation'],
  [/\bcontent management policy\b/gi, 'content policy', 'content filter', 'content safety rules'],
  [/\bblocked by\b/gi, 'stopped by', 'rejected by', 'withheld by'],
  [/\bflagged\b/gi, 'marked', 'caught', 'reported'],
  [/\binternal error\b/gi, 'something broke inside', 'unexpected internal failure', 'internal fault'],
  [/\btimed out\b/gi, 'took too long', 'timeout', 'ran out of time'],
  [/\bconnection closed\b/gi, 'the connection was closed', 'disconnected', 'peer hung up'],
  [/\bis not valid\b/gi, 'is invalid', 'was rejected', 'is wrong'],
  [/\bexceeded\b/gi, 'went over', 'surpassed', 'ran past'],
  [/\bexceeds\b/gi, 'goes over', 'surpasses', 'is above'],
  [/\breduce\b/gi, 'shorten', 'cut down', 'trim'],
  [/\brequested\b/gi, 'asked for', 'wanted', 'requested'],
  [/\bhowever\b/gi, 'but', 'yet', 'still'],
  [/\bplease\b/gi, 'kindly', '', 'do'],
  [/\byour\b/gi, 'the', 'this', 'your own'],
]

/** Sentences and clauses in another order; a full stop inside a number or name ends nothing. */
function reorder(text: string, variant: number): string {
  const sentences = text.split(/(?<=[.!?])\s+/)
  if (variant === 0) return sentences.toReversed().join(' ')
  if (variant === 1)
    return sentences.map((sentence) => sentence.split(', ').toReversed().join(', ')).join(' ')
  return [...sentences.slice(1), ...sentences.slice(0, 1)].join(' ')
}

/** Names, codes and units stay as they are: only words are rewritten. */
const isName = (word: string): boolean => /[\d_{}[\]<>"/@`]|[a-z][A-Z]|^[A-Z]{4,}$/.test(word)

const casings: readonly ((word: string) => string)[] = [
  (word) => word.toLowerCase(),
  (word) => word.toUpperCase(),
  (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase(),
]

/** Rewrites a human message: other words, another order, another casing, no punctuation. Deterministic. */
export function reword(text: string, variant: number): string {
  const said = phrases.reduce(
    (at, [pattern, ...choices]) => at.replace(pattern, choices[variant] ?? ''),
    text,
  )
  return reorder(said, variant)
    .split(/\s+/)
    .map((word) =>
      isName(word)
        ? word.replace(/[,;:!?]+$|\.$/, '')
        : (casings[variant] ?? String)(word.replace(/[.,;:!?()]/g, '')),
    )
    .filter((word) => word !== '')
    .join(' ')
}

const messageKeys = new Set(['message', 'raw', 'detail', 'text', 'error', 'body'])

function rewordText(text: string, variant: number): string {
  if (/^\s*</.test(text) || !text.includes(' '))
    return /^[A-Z][a-z]+$/.test(text) ? reword(text, variant) : text
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  if (start < 0 || end < start) return reword(text, variant)
  try {
    const inner = JSON.stringify(rewordTree(JSON.parse(text.slice(start, end + 1)), variant))
    return `${text.slice(0, start)}${inner}${text.slice(end + 1)}`
  } catch {
    return text
  }
}

function rewordTree(value: unknown, variant: number): unknown {
  if (Array.isArray(value)) return value.map((item) => rewordTree(item, variant))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      typeof field === 'string' && messageKeys.has(key)
        ? rewordText(field, variant)
        : rewordTree(field, variant),
    ]),
  )
}

/** Messages that are constants of the runtime, hence no human's. */
const constants = new Set(['fetch failed', 'terminated'])

/** A recorded failure whose human texts somebody else wrote; codes, types, names and status as they were. */
export function rewordInput(input: CaseInput, variant: number): CaseInput {
  if (input.kind === 'node' && constants.has(input.message ?? '')) {
    return { ...input, cause: rewordTree(input.cause, variant) } as CaseInput
  }
  return rewordTree(input, variant) as CaseInput
}
