import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadCommand } from '../../src/cli/commands.ts'

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'broken-'))
  file = join(dir, 'a.yaml')
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
})

/** What a command says, wherever it says it. */
async function told(name: string, args: readonly string[]): Promise<string> {
  let out = ''
  const command = (await loadCommand(name)).exitOverride()
  command.configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (out += text) })
  try {
    await command.parseAsync([...args], { from: 'user' })
  } catch (error) {
    const { message } = error as Error
    if (!out.includes(message)) out += message
  }
  return out
}

const incidents = () => join(dir, 'incidents.csv')
const good = () => join(dir, 'good.yaml')
const traffic = () => join(dir, 'traffic.csv')

/** Every command that reads YAML, and what a file of its own looks like up to the fault. */
const readers: readonly (readonly [string, string, () => string[]])[] = [
  ['validate', 'targets: [{ baseUrl: http://a }]', () => [file]],
  ['audit', 'targets: [{ baseUrl: http://a }]', () => [file]],
  ['diff', 'targets: [{ baseUrl: http://a }]', () => [file, good()]],
  ['paths', 'targets: [{ baseUrl: http://a }]', () => [file]],
  ['check', 'kind: call', () => [file]],
  ['simulate', 'kind: load', () => [file]],
  ['replay', 'threshold: 3', () => ['--incidents', incidents(), '--traffic', traffic(), '--policy', file]],
]

describe.each(readers)('switchgear %s', (name, beginning, args) => {
  beforeEach(() => {
    writeFileSync(
      incidents(),
      'incident,started_at,mitigated_at,resolved_at,impact\na,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,2026-01-01T01:00:00Z,2\n',
    )
    writeFileSync(good(), 'targets: [{ baseUrl: http://a }]\n')
    writeFileSync(traffic(), 'TIMESTAMP\n2026-01-01 00:00:00\n')
  })

  it('tells a missing colon once, with place and line', async () => {
    writeFileSync(file, `${beginning}\nstream [a]\nname: b\nmore: [c]\n`)
    const text = await told(name, args())
    expect(text).toMatch(
      /a\.yaml:2:1: a colon is missing behind 'stream', write stream: and then its value\n/,
    )
    expect(text).toMatch(/\n {2}2 \| stream \[a\]\n {4}\| \^/)
    expect(text.match(/\.yaml:\d+/g)).toHaveLength(1)
  })

  it('tells a key that stands twice as such', async () => {
    writeFileSync(file, `${beginning}\nmore: { stream: [a], stream: [b] }\n`)
    expect(await told(name, args())).toMatch(
      /a\.yaml:2:22: the key 'stream' stands here again, after column 9, keep one of them\n {2}2 \| more: \{ stream: \[a\], stream: \[b\] \}\n/,
    )
  })

  it('shows no value that could be a secret', async () => {
    writeFileSync(file, `${beginning}\nmore: { apiKey: "sk-0123456789, b: c }\nname: "d"\n`)
    const text = await told(name, args())
    expect(text).toMatch(/a\.yaml:2:17: this " is never closed/)
    expect(text).not.toContain('0123')
  })
})
