import { readdirSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'

/** A recording is one file that grows, and beside it the older ones, each named after the time it was closed. */
export function segmentName(file: string, closedAt: number): string {
  const stamp = new Date(closedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const end = extname(file)
  return join(dirname(file), `${basename(file, end)}.${stamp}${end}`)
}

/** The closed files beside `file`, the oldest first. */
export function closedSegments(file: string): string[] {
  const end = extname(file)
  const stem = `${basename(file, end)}.`
  return namesIn(dirname(file))
    .filter((name) => name.startsWith(stem) && name.endsWith(end))
    .filter((name) => /^\d{8}T\d{6}Z(?:-\d+)?$/.test(name.slice(stem.length, name.length - end.length)))
    .sort()
    .map((name) => join(dirname(file), name))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // who opens the file itself tells why
    return []
  }
}
