import { ConsecutiveBreaker, SamplingBreaker, circuitBreaker, handleAll } from 'cockatiel'
import type { IBreaker } from 'cockatiel'
import { Effect, Layer, ManagedRuntime } from 'effect'
import { CircuitBreaker as EffectBreaker } from 'effect/persistence'
import { Circuit, SlidingCountBreaker } from 'mollitia'
import Opossum from 'opossum'
import { VernLLM } from 'vern-llm'
import type { Subject } from './measure.ts'

/** A peer, and how to let go of its timers. */
export type Peer = Subject & { readonly close: () => unknown }

export const COOLDOWN_MS = 600_000

/** The work of every subject. */
export const work = async () => 'ok'

function cockatielOf(name: string, breaker: IBreaker): Peer {
  const policy = circuitBreaker(handleAll, { halfOpenAfter: COOLDOWN_MS, breaker })
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await policy.execute(work)
  }
  return { name, batch, close: () => {} }
}

export const cockatiel = () => cockatielOf('cockatiel', new ConsecutiveBreaker(5))

export const cockatielSampling = () =>
  cockatielOf('cockatiel', new SamplingBreaker({ threshold: 0.5, duration: 60_000, minimumRps: 1 }))

/** A cockatiel breaker that is open, refusing every call. */
export async function cockatielOpen(): Promise<Peer> {
  const policy = circuitBreaker(handleAll, { halfOpenAfter: COOLDOWN_MS, breaker: new ConsecutiveBreaker(1) })
  await policy.execute(() => Promise.reject(new Error('down'))).catch(() => {})
  const batch = async (calls: number) => {
    let refused = 0
    for (let i = 0; i < calls; i++) {
      try {
        await policy.execute(work)
      } catch {
        refused++
      }
    }
    if (refused !== calls) throw new Error('cockatiel did not refuse')
  }
  return { name: 'cockatiel', batch, close: () => {} }
}

export function opossum(timeout: number | false = false, name = 'opossum'): Peer {
  const breaker = new Opossum(work, { timeout, errorThresholdPercentage: 50, resetTimeout: 30_000 })
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await breaker.fire()
  }
  return { name, batch, close: () => breaker.shutdown() }
}

export function mollitia(): Peer {
  const breaker = new SlidingCountBreaker({
    slidingWindowSize: 10,
    minimumNumberOfCalls: 5,
    failureRateThreshold: 50,
  })
  const circuit = new Circuit({ func: work, options: { modules: [breaker] } })
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await circuit.execute()
  }
  return { name: 'mollitia', batch, close: () => circuit.dispose() }
}

/** Effect's circuit breaker as a promise-based program would use it: one `runPromise` a call. */
export async function effect(): Promise<Peer> {
  const made = EffectBreaker.layer({ tripPolicy: EffectBreaker.consecutive(5), openDuration: '30 seconds' })
  const runtime = ManagedRuntime.make(made.pipe(Layer.provide(EffectBreaker.layerStoreMemory())))
  const breaker = await runtime.runPromise(Effect.service(EffectBreaker.CircuitBreaker))
  const program = breaker.execute(Effect.promise(work), { key: 'target' })
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await Effect.runPromise(program)
  }
  return { name: 'effect', batch, close: () => runtime.dispose() }
}

/** VernLLM with its circuit breaker on, over a client that answers at once. */
export function vernLlm(): Peer {
  const answer = { choices: [{ message: { content: 'ok' } }] }
  const client = { chat: { completions: { create: async () => answer } } }
  const llm = new VernLLM({ client, model: 'stub', circuitBreaker: true })
  const batch = async (calls: number) => {
    for (let i = 0; i < calls; i++) await llm.call({ userContent: 'Hello', jsonMode: false })
  }
  return { name: 'vern-llm', batch, close: () => {} }
}
