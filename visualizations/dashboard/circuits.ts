import { computed, signal } from '@preact/signals'
import type { ReadonlySignal, Signal } from '@preact/signals'
import type { CircuitView } from '../../src/gateway/admin/wire.ts'

/** All circuits, each a signal of its own: what did not change is not drawn again. */
export class Circuits {
  readonly #known = new Map<string, Signal<CircuitView>>()
  readonly #names = signal<readonly string[]>([])
  /** False until the gateway has told of them. */
  readonly areKnown = signal(false)

  readonly all: ReadonlySignal<readonly CircuitView[]> = computed(() =>
    this.#names.value.flatMap((name) => this.#known.get(name)?.value ?? []),
  )

  /** undefined = there is no such circuit. */
  get(name: string): ReadonlySignal<CircuitView> | undefined {
    // whoever asks is asked again when circuits come and go
    void this.#names.value
    return this.#known.get(name)
  }

  takeAll(views: readonly CircuitView[]): { readonly heldOtherwise: boolean } {
    const heldOtherwise = views.some((view) => holdOf(this.#known.get(view.circuit)?.peek()) !== holdOf(view))
    const names = views.map(({ circuit }) => circuit)
    for (const view of views) this.#set(view)
    const before = this.#names.peek()
    if (names.join('\n') !== before.join('\n')) {
      const present = new Set(names)
      for (const name of before) if (!present.has(name)) this.#known.delete(name)
      this.#names.value = names
    }
    const first = !this.areKnown.peek()
    this.areKnown.value = true
    return { heldOtherwise: heldOtherwise && !first }
  }

  /** One circuit, told ahead of the others. */
  take(view: CircuitView): void {
    if (this.#known.has(view.circuit)) this.#set(view)
  }

  clear(): void {
    this.#known.clear()
    this.#names.value = []
    this.areKnown.value = false
  }

  #set(view: CircuitView): void {
    const own = this.#known.get(view.circuit)
    if (own === undefined) this.#known.set(view.circuit, signal(view))
    else if (JSON.stringify(own.peek()) !== JSON.stringify(view)) own.value = view
  }
}

const holdOf = (view: CircuitView | undefined) => JSON.stringify(view?.hold)
