import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'

interface Output {
  /** Files that the command reads; undefined = an option that was not given. */
  readonly inputs: readonly (string | undefined)[]
  /** Endings of what the command writes: only such a file may have come from it. */
  readonly endings: readonly string[]
}

export const HTML = ['.html', '.htm'] as const
export const SCENARIO = ['.yaml', '.yml'] as const

/**
 * Looks at a file before the work that fills it, so that nothing is in vain; what it returns writes it.
 *
 * @throws Error where the command reads that file, or another file would be lost
 */
export function outputTo(file: string, { inputs, endings }: Output): (text: string) => void {
  const there = find(file)
  if (there?.isDirectory() === true) throw unwritable(file, 'EISDIR')
  const isSame = (input: string) => {
    const read = find(input)
    return read !== undefined && read.ino === there?.ino && read.dev === there.dev
  }
  if (inputs.some((input) => input !== undefined && isSame(input)))
    throw new Error(`${file}: is not written: the command reads it. Name another file.`)
  // an empty file loses nothing, and a device keeps nothing
  if (there?.isFile() === true && there.size > 0n) refuseForeign(file, endings)
  return (text) => {
    try {
      writeFileSync(file, text)
    } catch (error) {
      throw unwritable(file, codeOf(error))
    }
  }
}

/** @throws Error that says why there can be no such directory */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true })
  } catch (error) {
    throw unwritable(directory, codeOf(error))
  }
}

/** Why an output cannot be written, in words. */
export function unwritable(file: string, code: string): Error {
  return new Error(`${file}: cannot be written, ${REASONS[code] ?? code}.`)
}

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory',
  EEXIST: 'it is a file, not a directory',
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EACCES: 'its owner does not allow it',
  EPERM: 'its owner does not allow it',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
}

const codeOf = (error: unknown) => String((error as { code?: unknown }).code ?? error)

/** Links are followed: two names of one file are the same file. */
function find(file: string) {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return undefined
    throw unwritable(file, codeOf(error))
  }
}

function refuseForeign(file: string, endings: readonly string[]): void {
  const refuse = (why: string) => {
    throw new Error(
      `${file}: is already there and stays as it is: ${why}. Name another file, or delete this one first.`,
    )
  }
  if (!endings.some((ending) => file.endsWith(ending)))
    refuse(`its ending is ${endings.length === 1 ? `not ${endings[0]}` : `none of ${endings.join(', ')}`}`)
  // configurations and loads end like scenarios
  if (endings === SCENARIO && !/^kind: (?:breaker|call)$/m.test(readFileSync(file, 'utf8')))
    refuse('it is no scenario')
}
