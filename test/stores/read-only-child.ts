import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import { entry } from './entry.ts'

const journal = sqliteJournal({ file: process.argv[2] ?? '' })
journal.append(entry('a'))
process.stdout.write(JSON.stringify({ rows: journal.rows().length, health: journal.health }))
