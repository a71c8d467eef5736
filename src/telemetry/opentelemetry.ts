import type { Meter, MeterProvider, Observable, TracerProvider } from '@opentelemetry/api'
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/errors.ts'
import { DURATION_BOUNDS_MS } from '../core/stats.ts'
import { CallSpans } from './call-spans.ts'
import { GEN_AI_HISTOGRAMS } from './gen-ai.ts'
import type { GenAiNames, GenAiTarget } from './gen-ai.ts'
import { METRICS } from './names.ts'
import type { MetricKey } from './names.ts'
import { packageVersion } from './package-version.ts'
import { readSamples } from './samples.ts'
import type { MetricSource, TelemetryGear } from './source.ts'

export interface OpenTelemetryOptions extends Omit<MetricSource, 'gear'> {
  /** What durations are measured by. Default: the real clock; give the switchgear's own where it has another. */
  readonly clock?: Clock
  /** Spans of calls and attempts. Default true. */
  readonly spans?: boolean
  /** What the targets are in the words of the GenAI conventions, by name. */
  readonly targets?: Readonly<Record<string, GenAiTarget>> | ((name: string) => GenAiTarget | undefined)
  /** What a request asks for, such as `embeddings`. Default: what `targets` says, else `chat`. */
  readonly operationOf?: (request: unknown) => string | undefined
  /** Which names of the GenAI conventions, old ones too for backends that chart them. Default `current`. */
  readonly genAiNames?: GenAiNames
  /** The provider's answer within what `invoke` gives; model and token counts are read from it. Default: the same. */
  readonly answerOf?: (answer: unknown) => unknown
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider
}

export interface OpenTelemetry {
  /** Ends the metrics, and spans of new calls. */
  stop(): void
}

const SCOPE = 'switchgear'
const advice = { explicitBucketBoundaries: DURATION_BOUNDS_MS.map((ms) => ms / 1000) }

/**
 * Spans and metrics of a switchgear for OpenTelemetry, through `@opentelemetry/api`, which your program brings along.
 * Without it running, nothing of this costs a call anything.
 *
 * @throws ConfigError when `@opentelemetry/api` is not installed, or the calls are observed already
 * @example
 * ```ts
 * const telemetry = await openTelemetry(gear, { targets: { primary: { provider: 'openai' } } })
 * ```
 */
export async function openTelemetry(
  gear: TelemetryGear,
  options: OpenTelemetryOptions = {},
): Promise<OpenTelemetry> {
  const { spans = true, targets = {}, genAiNames: names = 'current', answerOf = (answer) => answer } = options
  const { clock = systemClock, operationOf = () => undefined } = options
  const known = new Map(Object.entries(targets))
  const api = await load()
  const version = packageVersion()
  const meter = (options.meterProvider ?? api.metrics).getMeter(SCOPE, version)
  const tracer = spans ? (options.tracerProvider ?? api.trace).getTracer(SCOPE, version) : undefined
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description, advice })
  const { attemptDuration, firstContent } = METRICS
  const genAi = GEN_AI_HISTOGRAMS[names]
  const observer = new CallSpans({
    api,
    tracer,
    clock,
    duration: histogram(attemptDuration.otel, attemptDuration.help),
    firstContent: histogram(firstContent.otel, firstContent.help),
    genAiDuration: genAi.duration.map((name) => histogram(name, 'GenAI operation duration.')),
    genAiFirstChunk: genAi.firstChunk.map((name) => histogram(name, 'Time to the first part of the answer.')),
    names,
    targetOf: typeof targets === 'function' ? targets : (name) => known.get(name),
    operationOf,
    answerOf,
  })
  const stopObserving = gear.observe(observer)
  const stopListening = gear.on('transition', (transition) => observer.moved(transition))
  const stopMetrics = observeMetrics(meter, { gear, ...options })
  return {
    stop() {
      stopObserving()
      stopListening()
      stopMetrics()
    },
  }
}

async function load(): Promise<typeof import('@opentelemetry/api')> {
  try {
    return await import('@opentelemetry/api')
  } catch {
    throw new ConfigError('@opentelemetry/api is not installed.', {
      hint: 'Add it to your program, with the SDK that sends spans and metrics where you want them.',
    })
  }
}

/** Everything the core has counted, read when it is exported. */
function observeMetrics(meter: Meter, source: MetricSource): () => void {
  const observed = (Object.keys(METRICS) as MetricKey[]).filter((key) => METRICS[key].type !== 'histogram')
  const instruments = new Map(
    observed.map((key): [MetricKey, Observable] => {
      const { otel, unit, help: description, type } = METRICS[key]
      const about = { unit, description }
      return [
        key,
        type === 'counter'
          ? meter.createObservableCounter(otel, about)
          : meter.createObservableGauge(otel, about),
      ]
    }),
  )
  const all = [...instruments.values()]
  const callback: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    const samples = readSamples(source)
    for (const [key, instrument] of instruments)
      for (const { of, labels, value } of samples[key])
        if (typeof value === 'number') result.observe(instrument, value, { ...of, ...labels })
  }
  meter.addBatchObservableCallback(callback, all)
  return () => meter.removeBatchObservableCallback(callback, all)
}
