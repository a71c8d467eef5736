import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { parse } from 'yaml'
import { cleanLines } from '../audit/incident/clean-words.ts'
import { incidentModel } from '../audit/replay/incident-model.ts'
import { readTrace } from '../audit/replay/read-trace.ts'
import type { Load } from '../audit/simulate/load.ts'
import { readLoad } from '../audit/simulate/read-load.ts'
import { simulationHtml } from '../audit/simulate/simulate-html.ts'
import { simulateScenario } from '../audit/simulate/simulate-scenario.ts'
import { simulationJson, simulationText } from '../audit/simulate/simulate-text.ts'
import { Simulation } from '../audit/simulate/simulation.ts'
import type { SimulationReport } from '../audit/simulate/simulation-report.ts'
import { simulationReport } from '../audit/simulate/simulation-report.ts'
import { lasting } from '../audit/words.ts'
import { parseScenario } from '../testing/scenario/parse.ts'
import { withProgress } from './progress.ts'
import { configTargets, readText } from './read-policies.ts'
import { HTML, outputTo } from './write-output.ts'

interface Options {
  readonly config?: string
  readonly seed?: number
  readonly json: boolean
  readonly html?: string
}

/** Plays a load or a scenario; prints what is there when it is stopped. */
export async function simulateFile(file: string, options: Options, command: Command): Promise<void> {
  const { config, html } = options
  const write = html === undefined ? undefined : outputTo(html, { inputs: [file, config], endings: HTML })
  const text = readText(file)
  const [report, whole] = isScenario(text)
    ? [await simulateScenario(parseScenario(text, file)), true]
    : await simulateLoad(await loadOf(text, file, options))
  const told = options.json
    ? `${JSON.stringify(simulationJson(report), null, 2)}\n`
    : cleanLines(simulationText(report))
  command.configureOutput().writeOut?.(told)
  write?.(simulationHtml(report))
  if (!whole) process.exitCode = 130
  else if (report.verdict !== undefined && report.verdict !== '') process.exitCode = 1
}

/** What is no YAML at all is told of by whoever reads it in earnest. */
function isScenario(text: string): boolean {
  try {
    const { kind } = (parse(text) ?? {}) as { readonly kind?: unknown }
    return kind === 'breaker' || kind === 'call'
  } catch {
    return false
  }
}

async function loadOf(text: string, file: string, { config, seed }: Options): Promise<Load> {
  const trace = (name: string) => {
    const path = resolve(dirname(file), name)
    return readTrace(readText(path), name, incidentModel)
  }
  const switchgear = config === undefined ? undefined : await configTargets(config)
  const load = readLoad(text, file, { trace, switchgear })
  return seed === undefined ? load : { ...load, seed }
}

async function simulateLoad(load: Load): Promise<[SimulationReport, boolean]> {
  const simulation = new Simulation(load)
  const whole = await withProgress(
    () => simulation.step(),
    () => simulation.progress,
  )
  const providers = [...load.providers]
  const report = simulationReport({
    name: load.name,
    premise: `${lasting(load.durationMs)} of traffic, seed ${load.seed}, in virtual time.`,
    playedMs: whole ? load.durationMs : simulation.now,
    wantedMs: load.durationMs,
    observed: simulation.observed,
    faults: new Map(providers.map(([name, { faults }]) => [name, faults])),
    prices: new Map(providers.flatMap(([name, { price }]) => (price === undefined ? [] : [[name, price]]))),
  })
  return [report, whole]
}
