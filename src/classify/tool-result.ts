import type { Evidence } from './evidence.ts'
import { isBag, isFilled, items, keys, read, readPath } from './safe-read.ts'
import { normalise, toToken } from './text.ts'
import type { FailureKind } from './verdict.ts'

/** The MCP result that says of itself that the tool failed. */
const failedResult = (nodes: readonly unknown[]): unknown =>
  nodes.find((node) => read(node, 'isError') === true && Array.isArray(read(node, 'content')))

const contractWords =
  /(?:input|argument|parameter|schema)s? (?:validation|check)|validation (?:error|fail)|invalid (?:tool )?(?:argument|input|param)|unknown tool|tool \S+ not found|should be a valid|missing required/
const contractTypes = new Set(['inputvalidation', 'invalidparams', 'invalidarguments', 'validationerror'])

function kindOfResult(result: unknown): FailureKind {
  const type = readPath(result, 'structuredContent', 'type')
  if (isFilled(type) && contractTypes.has(toToken(type))) return 'tool_contract'
  const texts = items(read(result, 'content'))
    .map((part) => read(part, 'text'))
    .filter(isFilled)
  return texts.some((text) => contractWords.test(normalise(text))) ? 'tool_contract' : 'tool_result'
}

/** A missing route, told apart from a missing record: only the latter has something to say about the record. */
const missingRoute =
  /^(?:not found|404|404 not found|page not found)?$|\broute\b|can not (?:get|post)|\bendpoint\b|\burl\b|no handler/

function isMissingRecord(evidence: Evidence): boolean {
  const gone = evidence.statuses.some((status) => status === 404 || status === 410)
  if (!gone || evidence.rpcCodes.length > 0) return false
  return evidence.nodes.some((node) => {
    const body = read(node, 'body') ?? read(node, 'data')
    if (!isBag(body) || keys(body).length === 0) return false
    const said = ['message', 'detail', 'error', 'title'].map((key) => {
      const value = read(body, key)
      return isBag(value) ? read(value, 'message') : value
    })
    return said
      .filter(isFilled)
      .map((text) => normalise(text.replaceAll('_', ' ')))
      .some((text) => !missingRoute.test(text))
  })
}

const isLostSession = (evidence: Evidence): boolean =>
  evidence.words.some(
    (text) =>
      /\bsession\b/.test(text) &&
      /not|unknown|expired|missing|invalid|no (?:such|longer)|lost|gone/.test(text),
  )

/**
 * What only a tool says: an answer that is a no, arguments it does not take, a session its server forgot.
 * Says nothing of models, except of a result that is an MCP result by its shape.
 */
export function kindOfTool(evidence: Evidence, surface: 'model' | 'tool'): FailureKind | undefined {
  const result = failedResult(evidence.nodes)
  if (result !== undefined) return kindOfResult(result)
  if (surface !== 'tool') return undefined
  // A server that restarted answers as if nothing were there; a new session heals it.
  if (isLostSession(evidence) && (evidence.rpcCodes.length > 0 || evidence.statuses.includes(404)))
    return 'network'
  if (evidence.rpcCodes.includes(-32_602)) return 'tool_contract'
  return isMissingRecord(evidence) ? 'tool_result' : undefined
}
