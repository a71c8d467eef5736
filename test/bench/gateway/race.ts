import { Child } from '../../support/child.ts'
import type { Loader } from './load.ts'
import type { Proxy } from './proxy.ts'
import type { Upstream } from './upstream.ts'

/** A gateway in a process of its own. */
export interface Contender {
  readonly name: string
  readonly file: URL
  /** What its clients must send besides. */
  readonly headers?: (upstream: string) => Readonly<Record<string, string>>
}

/** What one request has taken. */
export interface Sample {
  /** CPU time of the gateway, in µs. */
  readonly cpu: number
  /** Requests a second, all connections together. */
  readonly rate: number
}

export interface Plan {
  readonly stream: boolean
  readonly rounds: number
  /** Of load on each gateway in a round. */
  readonly ms: number
}

/** Samples of each contender, round by round. */
export type Race = ReadonlyMap<string, readonly Sample[]>

const CONNECTIONS = 32
const WARM_UPS = 4

interface Running {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly child: Child<Proxy>
}

/** The upstream, the load, and every contender: a process each. */
export class Course implements AsyncDisposable {
  readonly #upstream: Child<Upstream>
  readonly #loader: Child<Loader>
  readonly #running: readonly Running[]

  private constructor(upstream: Child<Upstream>, loader: Child<Loader>, running: readonly Running[]) {
    this.#upstream = upstream
    this.#loader = loader
    this.#running = running
  }

  static async open(contenders: readonly Contender[]): Promise<Course> {
    const upstream = await Child.start<Upstream>(new URL('./upstream.ts', import.meta.url))
    const loader = await Child.start<Loader>(new URL('./load.ts', import.meta.url))
    const origin = await upstream.ask('url')
    const running: Running[] = []
    for (const { name, file, headers } of contenders) {
      const child = await Child.start<Proxy>(file, { args: [origin] })
      running.push({ name, url: await child.ask('url'), headers: headers?.(origin) ?? {}, child })
    }
    return new Course(upstream, loader, running)
  }

  /** Every round begins with another contender, so that none always follows the same one. */
  async race(plan: Plan): Promise<Race> {
    for (let i = 0; i < WARM_UPS; i++) for (const one of this.#running) await this.#spell(one, plan)
    const samples = new Map(this.#running.map(({ name }): [string, Sample[]] => [name, []]))
    for (let round = 0; round < plan.rounds; round++) {
      for (let turn = 0; turn < this.#running.length; turn++) {
        const one = this.#running[(round + turn) % this.#running.length]!
        samples.get(one.name)!.push(await this.#spell(one, plan))
      }
    }
    return samples
  }

  async #spell({ url, headers, child }: Running, { stream, ms }: Plan): Promise<Sample> {
    const before = await child.ask('cpu')
    const done = await this.#loader.ask('run', { url, headers, stream, ms, connections: CONNECTIONS })
    const cpu = (await child.ask('cpu')) - before
    return { cpu: cpu / done.requests, rate: (done.requests * 1000) / done.ms }
  }

  async close(): Promise<void> {
    const children = [this.#loader, ...this.#running.map(({ child }) => child), this.#upstream]
    for (const child of children) await child.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
