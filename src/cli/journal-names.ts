import { cleanWords } from '../audit/incident/clean-words.ts'
import { didYouMean } from '../core/validate.ts'
import { ROW_TYPES } from '../stores/journal-row.ts'
import type { JournalFilter } from '../stores/journal-store.ts'
import type { JournalReader } from '../stores/read-only-file.ts'
import { CommandFailed, EXIT } from './connection.ts'

const MOST_TOLD = 20

/** What an option asks for that a journal has not, and what it has; undefined = it has all of it. */
export function nothingOf(
  journal: Pick<JournalReader, 'rows' | 'names'>,
  { circuit, type }: Pick<JournalFilter, 'circuit' | 'type'>,
): CommandFailed | undefined {
  if (typeof circuit === 'string' && journal.rows({ circuit, limit: 1 }).length === 0) {
    const text = `There is no circuit '${cleanWords(circuit)}' in it. ${told(circuit, journal.names().circuits)}`
    return new CommandFailed(EXIT.unknownCircuit, text)
  }
  if (type === undefined || type === 'transition' || journal.rows({ type, limit: 1 }).length > 0)
    return undefined
  const { types } = journal.names()
  const isKnown = ROW_TYPES.includes(type)
  // what could be in another journal is not meant to be something that is in this one
  const hint = isKnown ? has(types) : told(type, types, ['transition', ...ROW_TYPES])
  const what = isKnown ? `It has no row of the type '${type}'.` : `There is no type '${cleanWords(type)}'.`
  return new CommandFailed(isKnown ? 0 : EXIT.refused, `${what} ${hint}`)
}

function told(wrong: string, names: readonly string[], meant = names): string {
  const hint = didYouMean(wrong, meant)
  return hint.startsWith('Did you mean') ? `${hint} ${has(names)}` : has(names)
}

function has(names: readonly string[]): string {
  if (names.length === 0) return 'It has none at all.'
  const more = names.length - MOST_TOLD
  const shown = names.slice(0, MOST_TOLD).map((name) => cleanWords(name))
  return `It has ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
