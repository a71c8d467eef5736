import { performance } from 'node:perf_hooks'
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

/**
 * What is worth knowing of the process, under the names that prom-client's own defaults and every Node dashboard use.
 * Those watch garbage collection and the event loop all the time and cannot be ended; these cost nothing between scrapes.
 */
export function processMetrics(registry: Registry): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) => {
    if (registry.getSingleMetric(name) !== undefined) return
    const metric: Gauge = new Gauge({ name, help, registers, collect: () => metric.set(read()) })
  }
  const counter = (name: string, help: string, read: () => number) => {
    if (registry.getSingleMetric(name) !== undefined) return
    const metric: Counter = new Counter({
      name,
      help,
      registers,
      collect() {
        metric.reset()
        metric.inc(read())
      },
    })
  }
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss())
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => heapUsed())
  gauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    () => performance.timeOrigin / 1000,
  )
  counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  counter(
    'nodejs_eventloop_busy_seconds_total',
    'How long the event loop has not been idle, in seconds: at a rate near 1 it is saturated.',
    () => performance.eventLoopUtilization().active / 1000,
  )
}

const heapUsed = () => process.memoryUsage().heapUsed
