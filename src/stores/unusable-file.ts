/** Why a journal file cannot be used now, in words. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile'
  /** It will not help to try this very file again. */
  readonly forGood: boolean

  constructor(reason: string, forGood = false) {
    super(reason)
    this.forGood = forGood
  }
}

// primary result codes of SQLite
const REASONS: Readonly<Record<number, readonly [reason: string, forGood?: boolean]>> = {
  3: ['this user may not write it'],
  5: ['another program has locked it'],
  6: ['another program has locked it'],
  8: ['it is read-only, or in a directory that is'],
  10: ['reading or writing it failed'],
  11: ['it is damaged; move it away, and a new one is begun', true],
  13: ['the disk, or the size that the journal may have, is full'],
  14: ['it can be neither opened nor created; is there such a directory, and may this user write in it?'],
  26: ['it is no SQLite database and is left untouched; name another file, or move this one away', true],
}

/** What went wrong with a file, whatever was thrown. */
export function toUnusable(error: unknown): UnusableFile {
  if (error instanceof UnusableFile) return error
  const { errcode, message } = error as { errcode?: number; message?: string }
  const known = errcode === undefined ? undefined : REASONS[errcode & 0xff]
  return known === undefined
    ? new UnusableFile(`SQLite says: ${message ?? 'nothing'}`)
    : new UnusableFile(...known)
}
