/** Roughly how many bytes a held part takes. */
export function sizeOf(part: unknown): number {
  if (typeof part === 'string') return part.length
  if (ArrayBuffer.isView(part)) return part.byteLength
  try {
    return JSON.stringify(part)?.length ?? 0
  } catch {
    return 0
  }
}
