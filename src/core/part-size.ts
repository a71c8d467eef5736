import { read } from '../classify/safe-read.ts'

/** Roughly how many bytes a held part takes; one that knows says so in `byteLength`. */
export function sizeOf(part: unknown): number {
  if (typeof part === 'string') return part.length
  const known = read(part, 'byteLength')
  if (typeof known === 'number') return known
  try {
    return JSON.stringify(part)?.length ?? 0
  } catch {
    return 0
  }
}
