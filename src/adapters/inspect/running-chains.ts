import type { AnyActorRef, Subscription } from 'xstate'
import type { SupervisorRef } from '../../core/host.ts'

/** Who is told of chains as they come and go. */
export interface ChainWatcher {
  began(call: string, chain: AnyActorRef): void
  ended(chain: AnyActorRef): void
}

/**
 * The chains under way. Nobody else keeps them, and a viewer may come while they run; so they are kept from the start, at
 * the price of an entry in a map for each call that fails.
 */
export class RunningChains {
  readonly #running = new Map<string, AnyActorRef>()
  readonly #subscriptions: readonly Subscription[]
  watcher: ChainWatcher | undefined

  constructor(supervisor: SupervisorRef) {
    this.#subscriptions = [
      supervisor.on('chain.started', ({ call, chain }) => {
        this.#running.set(call, chain)
        this.watcher?.began(call, chain)
      }),
      supervisor.on('chain.ended', ({ call }) => {
        const chain = this.#running.get(call)
        if (chain === undefined) return
        this.#running.delete(call)
        this.watcher?.ended(chain)
      }),
    ]
  }

  get size(): number {
    return this.#running.size
  }

  all(): Iterable<readonly [call: string, chain: AnyActorRef]> {
    return this.#running
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    this.#running.clear()
  }
}
