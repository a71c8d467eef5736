/** Chances where calls fail independently of each other. */

/** Calls on average until `k` fail one after the other, where a share `p` fails. */
export const untilInARow = (k: number, p: number): number => (p >= 1 ? k : (1 - p ** k) / (p ** k * (1 - p)))

/** Calls on average until a count reaches `k` that a failure raises, a success lowers, and nothing takes below zero. */
export function untilCounted(k: number, p: number): number {
  let [all, toNext] = [0, 0]
  for (let level = 0; level < k; level++) {
    // a success takes one off, and the way from there is gone once more
    toNext = (1 + (1 - p) * toNext) / p
    all += toNext
  }
  return all
}

/** The chance of at least `k` of `n`, each with the chance `p`. */
export function atLeast(k: number, n: number, p: number): number {
  let below = 0
  for (let i = 0; i < k; i++) below += exactly(i, n, p)
  return Math.min(1, Math.max(0, 1 - below))
}

/** The chance of exactly `k` of `n`. */
export function exactly(k: number, n: number, p: number): number {
  if (k < 0 || k > n) return 0
  if (p <= 0 || p >= 1) return k === (p <= 0 ? 0 : n) ? 1 : 0
  return Math.exp(
    logFactorial(n) - logFactorial(k) - logFactorial(n - k) + k * Math.log(p) + (n - k) * Math.log1p(-p),
  )
}

/** The chance that `n` come where `mean` come on average. */
export const poisson = (n: number, mean: number): number =>
  mean === 0 ? Number(n === 0) : Math.exp(n * Math.log(mean) - mean - logFactorial(n))

const SMALL = 64
const small: number[] = [0, 0]

/** Stirling's series, exact to twelve digits from 64 on. */
function logFactorial(n: number): number {
  if (n >= SMALL) {
    const x = n + 1
    return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3)
  }
  for (let i = small.length; i <= n; i++) small.push((small[i - 1] ?? 0) + Math.log(i))
  return small[n] ?? 0
}
