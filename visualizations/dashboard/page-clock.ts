/** The only clock and the only timers of the page. */

export const pageNow = (): number => Date.now()

/** Runs again and again; the answer stops it. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}

/** Runs once; the answer calls it off. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
