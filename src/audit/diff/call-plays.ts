import { Document, isMap, isSeq } from 'yaml'
import { CallStage } from '../../testing/scenario/call-stage.ts'
import { parseScenario } from '../../testing/scenario/parse.ts'
import type { CallScenario, CallStep, ScriptEntry } from '../../testing/scenario/scenario.ts'
import type { Audited, AuditedTarget } from '../audited.ts'
import { plainOptions } from '../walk/as-scenario.ts'

/** One play: what each target answers, and what is done. */
export interface Play {
  /** What happens, in words. */
  readonly when: string
  readonly script: Readonly<Record<string, readonly ScriptEntry[]>>
  readonly calls: readonly Omit<CallStep, 'line'>[]
}

/** What can be seen of the last call of a play. */
export interface Played {
  readonly answer?: unknown
  readonly error?: { readonly code: string }
  readonly attempts: readonly string[]
  readonly models: readonly (string | null)[]
  readonly elapsedMs: number
}

/** The rules of one chain, as the options of a switchgear. */
export type ChainOptions = CallScenario['switchgear']

function targetOptions(target: AuditedTarget): Record<string, unknown> {
  const { name, model, rules, bucket, maxRetries, retry, timeoutMs, firstContentTimeoutMs, idleTimeoutMs } =
    target
  return {
    name,
    ...(model !== undefined && { model }),
    ...(rules !== undefined && bucket !== name && { bucket }),
    ...(rules !== undefined && { circuitBreaker: plainOptions(rules) }),
    maxRetries,
    retry,
    timeoutMs,
    firstContentTimeoutMs,
    idleTimeoutMs,
  }
}

/** A chain of targets with all that decides about a call. */
export function chainOptions(audited: Audited, chain: readonly string[]): ChainOptions {
  const targets = chain.flatMap((name) => audited.targets.find((target) => target.name === name) ?? [])
  const { deadlineMs, whenAllOpen, retryBudget, contextWindowFallbacks, contentPolicyFallbacks } = audited
  const known = (lists: Audited['contextWindowFallbacks']) =>
    Object.fromEntries(
      Object.entries(lists)
        .filter(([from]) => chain.includes(from))
        .map(([from, list]) => [from, list.filter((name) => chain.includes(name))] as const)
        .filter(([, list]) => list.length > 0),
    )
  return {
    targets: targets.map(targetOptions),
    ...(deadlineMs !== undefined && { deadlineMs }),
    whenAllOpen: whenAllOpen.kind === 'wait' ? { waitMs: whenAllOpen.waitMs } : whenAllOpen.kind,
    retryBudget,
    contextWindowFallbacks: known(contextWindowFallbacks),
    contentPolicyFallbacks: known(contentPolicyFallbacks),
  }
}

/** A play as the text of a scenario file; `seen` is what the last call must come to. */
export function playText(
  name: string,
  why: string,
  switchgear: ChainOptions,
  play: Play,
  seen: Played,
): string {
  const calls = play.calls.map((call, i) => (i === play.calls.length - 1 ? { ...call, expect: seen } : call))
  const document = new Document({
    kind: 'call',
    name,
    why,
    random: [0.5],
    switchgear,
    script: play.script,
    calls,
  })
  const flow = (node: unknown) => {
    if (isMap(node) || isSeq(node)) node.flow = true
  }
  const each = (node: unknown) => {
    if (isSeq(node)) node.items.forEach(flow)
  }
  each(document.getIn(['switchgear', 'targets']))
  each(document.get('calls'))
  const script = document.get('script')
  if (isMap(script)) for (const { value } of script.items) flow(value)
  for (const key of ['retryBudget', 'contextWindowFallbacks', 'contentPolicyFallbacks'])
    flow(document.getIn(['switchgear', key]))
  flow(document.get('random'))
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** Plays it, and says what came of the last call. */
export async function playCalls(switchgear: ChainOptions, play: Play): Promise<Played | undefined> {
  const names = switchgear.targets.map(({ name }) => String(name))
  const script = Object.fromEntries(Object.entries(play.script).filter(([name]) => names.includes(name)))
  const text = playText(
    'play',
    '',
    switchgear,
    { ...play, script },
    { attempts: [], models: [], elapsedMs: 0 },
  )
  const scenario = parseScenario(text) as CallScenario
  const stage = new CallStage(scenario)
  await stage.play()
  const last = scenario.calls.length - 1
  const record = stage.records[last]
  if (record?.endedAt === undefined) return undefined
  const asked = stage.script.upstream.filter(({ step }) => step === last)
  return {
    ...(record.failed === undefined
      ? { answer: record.value }
      : { error: { code: String(codeOf(record.failed.error)) } }),
    attempts: asked.map(({ target }) => target),
    models: asked.map(({ model }) => model),
    elapsedMs: record.endedAt - record.startedAt,
  }
}

interface MaybeCoded {
  readonly code?: unknown
  readonly status?: unknown
  readonly error?: { readonly code?: unknown }
}

const codeOf = (error: unknown): unknown => {
  const { code, error: inner, status } = error as MaybeCoded
  return code ?? inner?.code ?? status
}
