import { Registry } from 'prom-client'
import type { Metric } from 'prom-client'
import { ConfigError } from '../core/errors.ts'
import { DURATION_BOUNDS_MS } from '../core/stats.ts'
import type { DurationHistogram } from '../core/stats.ts'
import { METRICS } from './names.ts'
import type { MetricKey, MetricName } from './names.ts'
import { processMetrics } from './process-metrics.ts'
import { readSamples } from './samples.ts'
import type { Samples } from './samples.ts'
import type { Labels, MetricSource, TelemetryGear } from './source.ts'

export interface PrometheusOptions extends Omit<MetricSource, 'gear'> {
  /** Where the metrics go, beside your own. Default: a registry of their own. */
  readonly registry?: Registry
  /** Memory, CPU and event loop of the process, too. Default false; prom-client's own defaults have the same names. */
  readonly process?: boolean
}

export interface PrometheusMetrics {
  readonly registry: Registry
  /** The content type of what {@link text} gives. */
  readonly contentType: string
  /** All metrics of the registry in Prometheus' text format. */
  text(): Promise<string>
  /** Takes this switchgear out of the registry. */
  stop(): void
}

/** A sample as prom-client writes it down. */
interface Line {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  /** Written down once for all lines with the same object: most of a scrape is labels. */
  readonly sharedLabels: Labels
  readonly value: number
}

/** The switchgears of one registry, read once a scrape. */
class Sources {
  readonly #sources = new Set<MetricSource>()
  #read: Samples[] | undefined

  add(source: MetricSource): void {
    this.#sources.add(source)
  }

  /** True = nobody is left. */
  remove(source: MetricSource): boolean {
    this.#sources.delete(source)
    return this.#sources.size === 0
  }

  /** A scrape asks for one metric after the other, all within one turn: they show one and the same moment. */
  get samples(): readonly Samples[] {
    if (this.#read === undefined) {
      this.#read = [...this.#sources].map(readSamples)
      queueMicrotask(() => (this.#read = undefined))
    }
    return this.#read
  }
}

/**
 * A metric whose values are read when it is scraped. prom-client's own keep numbers of their own, which would have to be
 * counted beside ours, and its histogram cannot be given any.
 */
class ReadMetric {
  /** prom-client renames counters for OpenMetrics. */
  name: string
  readonly help: string
  readonly type: MetricName['type']
  readonly aggregator = 'sum'
  readonly #key: MetricKey
  readonly #sources: Sources

  constructor(key: MetricKey, sources: Sources) {
    const { name, help, type } = METRICS[key]
    this.name = name
    this.help = help
    this.type = type
    this.#key = key
    this.#sources = sources
  }

  /** What is written down. */
  getForPromString() {
    const { name, help, type, aggregator } = this
    const values: Line[] = []
    for (const samples of this.#sources.samples) {
      for (const { of, labels, value } of samples[this.#key]) {
        if (typeof value === 'number') values.push({ labels, sharedLabels: of, value })
        else values.push(...histogramLines(name, labels, of, value))
      }
    }
    return { name, help, type, values, aggregator }
  }

  /** The same as data. */
  get() {
    const { values, ...about } = this.getForPromString()
    const whole = values.map(({ labels, sharedLabels, ...line }) => ({
      ...line,
      labels: { ...sharedLabels, ...labels },
    }))
    return { ...about, values: whole }
  }

  /** Nothing is kept here that could be reset. */
  reset(): void {}
}

function histogramLines(
  name: string,
  labels: Labels,
  sharedLabels: Labels,
  { counts, sumMs }: DurationHistogram,
): Line[] {
  let count = 0
  const buckets = counts.map((n, i) => {
    count += n
    const bound = DURATION_BOUNDS_MS[i]
    const le = bound === undefined ? '+Inf' : bound / 1000
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, sharedLabels, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, sharedLabels, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels, sharedLabels, value: count },
  ]
}

const shared = new WeakMap<Registry, Sources>()

function sourcesOf(registry: Registry): Sources {
  const known = shared.get(registry)
  if (known !== undefined) return known
  const taken = Object.values(METRICS).find(({ name }) => registry.getSingleMetric(name) !== undefined)
  if (taken !== undefined) {
    const hint = 'Give Switchgear a registry of its own.'
    throw new ConfigError(`The registry has a metric ${taken.name} already.`, { path: 'registry', hint })
  }
  const sources = new Sources()
  for (const key of Object.keys(METRICS) as MetricKey[]) {
    // prom-client's type asks for its own classes; what it calls is here
    registry.registerMetric(new ReadMetric(key, sources) as unknown as Metric)
  }
  shared.set(registry, sources)
  return sources
}

/**
 * The metrics of a switchgear for Prometheus. Nothing happens until they are scraped.
 *
 * @throws ConfigError when the registry has a metric of one of these names from elsewhere
 * @example
 * ```ts
 * const metrics = prometheusMetrics(gear)
 * app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
 * ```
 */
export function prometheusMetrics(gear: TelemetryGear, options: PrometheusOptions = {}): PrometheusMetrics {
  const { registry = new Registry(), process = false, ...rest } = options
  const source = { gear, ...rest }
  const sources = sourcesOf(registry)
  sources.add(source)
  if (process) processMetrics(registry)
  return {
    registry,
    get contentType() {
      return registry.contentType
    },
    text: () => registry.metrics(),
    stop() {
      if (!sources.remove(source)) return
      for (const { name } of Object.values(METRICS)) registry.removeSingleMetric(name)
      shared.delete(registry)
    },
  }
}
