import { isFilled, items, read, readPath } from './safe-read.ts'
import { toToken } from './text.ts'

/** Why an answer ended. `filtered` = a refusal or filter, `length` = the caller's own limit, `misused` = a broken tool call. */
export type StopClass = 'complete' | 'length' | 'filtered' | 'misused' | 'failed'

const classes: Readonly<Record<Exclude<StopClass, 'complete'>, readonly string[]>> = {
  length: ['length', 'max_tokens', 'max_output_tokens', 'pause_turn', 'model_context_window_exceeded'],
  filtered: [
    'content_filter',
    'content-filter',
    'refusal',
    'safety',
    'prohibited_content',
    'blocklist',
    'recitation',
    'spii',
    'image_safety',
    'language',
    'guardrail_intervened',
    'content_filtered',
  ],
  misused: ['malformed_function_call', 'malformed_tool_use', 'unexpected_tool_call'],
  failed: ['error', 'failed', 'cancelled', 'network_error'],
}
const byToken: ReadonlyMap<string, StopClass> = new Map(
  Object.entries(classes).flatMap(([name, words]) =>
    words.map((word) => [toToken(word), name as StopClass] as const),
  ),
)

/** The reasons a body or a stream event gives for its end; empty while it goes on. */
function reasonsOf(data: unknown): readonly string[] {
  const finish = read(data, 'finishReason')
  const response = read(data, 'response') ?? data
  const found: readonly unknown[] = [
    ...items(read(data, 'choices')).map((choice) => read(choice, 'finish_reason')),
    ...items(read(data, 'candidates')).map((candidate) => read(candidate, 'finishReason')),
    read(data, 'stop_reason'),
    readPath(data, 'delta', 'stop_reason'),
    readPath(data, 'messageStop', 'stopReason'),
    read(data, 'stopReason'),
    typeof finish === 'string' ? finish : read(finish, 'unified'),
    readPath(response, 'incomplete_details', 'reason'),
  ]
  return found.filter(isFilled)
}

/** The class of an end, worst first; `undefined` while nothing has ended. */
export function stopClassOf(data: unknown): StopClass | undefined {
  const found = new Set(reasonsOf(data).map((reason) => byToken.get(toToken(reason)) ?? 'complete'))
  const order: readonly StopClass[] = ['failed', 'filtered', 'misused', 'length', 'complete']
  return order.find((candidate) => found.has(candidate))
}
