/** What is due at some time, the first in front; what is due at one instant in its given order. */
export class DueQueue<T> {
  readonly #times: number[] = []
  readonly #orders: number[] = []
  readonly #items: T[] = []

  /** When the next is due; Infinity = nothing is. */
  get nextAt(): number {
    return this.#times.length === 0 ? Infinity : this.#times[0]!
  }

  get size(): number {
    return this.#times.length
  }

  clear(): void {
    this.#times.length = this.#orders.length = this.#items.length = 0
  }

  add(at: number, order: number, item: T): void {
    let place = this.#times.length
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#comesAfter(parent, at, order)) break
      this.#move(parent, place)
      place = parent
    }
    this.#put(place, at, order, item)
  }

  /** Takes the first out. */
  take(): { readonly order: number; readonly item: T } {
    const taken = { order: this.#orders[0]!, item: this.#items[0]! }
    const at = this.#times.pop()!
    const order = this.#orders.pop()!
    const item = this.#items.pop()!
    if (this.#times.length > 0) this.#sink(at, order, item)
    return taken
  }

  #sink(at: number, order: number, item: T): void {
    const size = this.#times.length
    let place = 0
    for (let child = 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && this.#comesAfter(child, this.#times[child + 1]!, this.#orders[child + 1]!))
        child++
      if (this.#comesAfter(child, at, order)) break
      this.#move(child, place)
      place = child
    }
    this.#put(place, at, order, item)
  }

  #comesAfter(place: number, at: number, order: number): boolean {
    const due = this.#times[place]!
    return due > at || (due === at && this.#orders[place]! > order)
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from]!, this.#orders[from]!, this.#items[from]!)
  }

  #put(place: number, at: number, order: number, item: T): void {
    this.#times[place] = at
    this.#orders[place] = order
    this.#items[place] = item
  }
}
