import type { Command } from 'commander'
import { presets } from '../audit/replay/contenders.ts'
import type { Contender } from '../audit/replay/contenders.ts'
import { incidentHtml } from '../audit/replay/incident-html.ts'
import { incidentModel } from '../audit/replay/incident-model.ts'
import type { IncidentModel } from '../audit/replay/incident-model.ts'
import { IncidentReplay } from '../audit/replay/incident-replay.ts'
import { incidentJson, incidentText } from '../audit/replay/incident-text.ts'
import type { Price } from '../audit/replay/numbers.ts'
import { readIncidents } from '../audit/replay/read-incidents.ts'
import { readTrace } from '../audit/replay/read-trace.ts'
import { ConfigError } from '../core/errors.ts'
import { didYouMean } from '../core/validate.ts'
import { withProgress } from './progress.ts'
import { readPolicies, readText } from './read-policies.ts'
import type { PolicySource } from './read-policies.ts'
import { HTML, outputTo } from './write-output.ts'

interface Options {
  readonly incidents: string
  readonly traffic: string
  readonly policy?: readonly string[]
  readonly target?: string
  readonly seeds: number
  readonly impact?: readonly (readonly [number, number])[]
  readonly noise?: number
  readonly price?: Price
  readonly backupPrice?: Price
  readonly json: boolean
  readonly html?: string
}

/** Shares of failing calls in a major incident that are tried beside the one assumed. */
const OTHER_SHARES = [0.6, 0.7, 0.9]

/** Real incidents over real traffic; prints what is there when it is stopped. */
export async function replayIncidents(options: Options, command: Command): Promise<void> {
  const { incidents, traffic, policy = [], html } = options
  const write =
    html === undefined
      ? undefined
      : outputTo(html, { inputs: [incidents, traffic, ...policy], endings: HTML })
  const model = modelOf(options)
  const replay = new IncidentReplay({
    incidents: readIncidents(readText(options.incidents), options.incidents),
    trace: readTrace(readText(options.traffic), options.traffic, model),
    contenders: await contendersOf(options),
    seeds: options.seeds,
    model,
    price: options.price,
    backupPrice: options.backupPrice,
    otherShares: OTHER_SHARES,
  })
  const whole = await withProgress(
    () => replay.step(),
    () => replay.progress,
  )
  const report = replay.report()
  if (report === undefined)
    return command.error('error: stopped before one round was through', { exitCode: 130 })
  const text = options.json ? `${JSON.stringify(incidentJson(report), null, 2)}\n` : incidentText(report)
  command.configureOutput().writeOut?.(text)
  write?.(incidentHtml(report))
  if (!whole) process.exitCode = 130
}

function modelOf({ impact = [], noise = incidentModel.noise }: Options): IncidentModel {
  const failureRatios = { ...incidentModel.failureRatios, ...Object.fromEntries(impact) }
  return { ...incidentModel, noise, failureRatios }
}

async function contendersOf({ policy, target }: Options): Promise<readonly Contender[]> {
  if (policy === undefined) return presets
  return (await readPolicies(policy)).map((source) => ({ name: source.name, rules: rulesOf(source, target) }))
}

function rulesOf({ name, first, of, targets }: PolicySource, target: string | undefined) {
  const rules = target === undefined ? first : of(target)
  if (rules !== undefined) return rules
  throw new ConfigError(`${name} has no circuit for a target '${target}'.`, {
    path: 'target',
    hint: didYouMean(target ?? '', targets),
  })
}
