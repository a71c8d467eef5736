/** How many of the sorted `values` are below `limit`: the place of the first that is not. */
export function countBelow(values: Float64Array, limit: number, length = values.length): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** How many of the sorted whole `values` are at most `limit`. */
export function countUpTo(values: Float64Array, limit: number, length = values.length): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}

/** Numbers that are added one by one, without a box for each. */
export class NumberList {
  #values = new Float64Array(1024)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Float64Array(this.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.length++] = value
  }

  at(index: number): number {
    return this.#values[index]!
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }

  /** All of them, as a view that later additions may leave behind. */
  get all(): Float64Array {
    return this.#values.subarray(0, this.length)
  }
}
