import { readFileSync, readdirSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const files = ['machines', 'src', 'visualizations']
  .flatMap((dir) =>
    readdirSync(resolve(root, dir), { recursive: true, encoding: 'utf8' }).map((name) => `${dir}/${name}`),
  )
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replaceAll('\\', '/'))

const text = new Map(files.map((file) => [file, readFileSync(resolve(root, file), 'utf8')]))

interface Import {
  readonly from: string
  readonly to: string
  /** Imports that vanish when the types do. */
  readonly typeOnly: boolean
}

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?from\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/gm

function importsOf(file: string): Import[] {
  return [...text.get(file)!.matchAll(IMPORT)].map(([, type, fixed, lazy]) => {
    const to = fixed ?? lazy ?? ''
    const path = to.startsWith('.') ? relative(root, resolve(root, dirname(file), to)) : to
    return { from: file, to: path, typeOnly: type !== undefined }
  })
}

const imports = files.flatMap(importsOf)

/** The rooms, from the outermost inwards. A file may import its own room and those further in. */
const ROOMS = [
  ['visualizations'],
  ['src/cli'],
  ['src/gateway'],
  ['src/audit'],
  ['src/testing', 'src/telemetry', 'src/stores', 'src/adapters'],
  ['src/yaml'],
  ['src/core'],
  ['src/classify'],
  ['machines'],
]

const roomOf = (file: string) => ROOMS.flat().find((room) => file.startsWith(`${room}/`))
const depthOf = (room: string) => ROOMS.findIndex((rooms) => rooms.includes(room))
const inside = imports.filter(({ to }) => files.includes(to))

function mayImport(from: string, to: string): boolean {
  const [a, b] = [roomOf(from), roomOf(to)]
  // the entry re-exports and belongs to no room
  if (a === undefined) return true
  if (b === undefined) return depthOf(a) < depthOf('src/core')
  // one adapter never needs another
  if (a === 'src/adapters' && b === a) return from.split('/')[2] === to.split('/')[2]
  return a === b || depthOf(a) < depthOf(b)
}

function cycles(): string[] {
  const edges = Map.groupBy(
    inside.filter(({ typeOnly }) => !typeOnly),
    ({ from }) => from,
  )
  const found: string[] = []
  const done = new Set<string>()
  const visit = (file: string, way: readonly string[]) => {
    const start = way.indexOf(file)
    if (start >= 0) return void found.push([...way.slice(start), file].join(' → '))
    if (done.has(file)) return
    for (const { to } of edges.get(file) ?? []) visit(to, [...way, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  return found
}

/** Code without comments and strings, in which a forbidden word is a forbidden use. */
const codeOf = (file: string) =>
  text
    .get(file)!
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\/\/.*$/gm, '')
    .replaceAll(/'(?:\\.|[^'\\\n])*'/g, "''")

// the page of the dashboard runs in a browser, where ours does not
const CLOCK_FILES = ['src/core/clock.ts', 'visualizations/dashboard/page-clock.ts']
// a call, not the definition of a method of that name
const CLOCKS =
  /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|process\.hrtime)\b|(?<![.#\w])(setTimeout|setInterval|clearTimeout)\((?!\w+: )/

describe('the house', () => {
  it('reads the imports at all', () => {
    expect(inside.length).toBeGreaterThan(100)
    expect(files).toContain('machines/breaker.machine.ts')
  })

  it('imports point one way: cli → gateway → (audit → testing, telemetry, stores, adapters) → yaml → core → classify → machines', () => {
    expect(inside.filter(({ from, to }) => !mayImport(from, to))).toEqual([])
  })

  it('has no cycle of imports', () => {
    expect(cycles()).toEqual([])
  })

  it('every relative import leads to a file', () => {
    const lost = imports.filter(
      ({ to }) => /^(machines|src|visualizations)\//.test(to) && !files.includes(to) && to.endsWith('.ts'),
    )
    expect(lost).toEqual([])
  })

  it('machines import xstate only', () => {
    const foreign = imports.filter(
      ({ from, to }) => from.startsWith('machines/') && !to.startsWith('machines/') && to !== 'xstate',
    )
    expect(foreign).toEqual([])
  })

  it('has exactly three machines', () => {
    expect(files.filter((file) => file.endsWith('.machine.ts')).sort()).toEqual([
      'machines/breaker.machine.ts',
      'machines/chain.machine.ts',
      'machines/supervisor.machine.ts',
    ])
  })

  it('imports @xstate/graph through one seam file', () => {
    const users = imports.filter(({ to }) => to.startsWith('@xstate/graph') || to === 'xstate/graph')
    expect(new Set(users.map(({ from }) => from))).toEqual(new Set(['src/testing/graph-seam.ts']))
  })

  it('reads no clock, draws no chance and starts no timer outside of the clock file', () => {
    const offenders = files.filter(
      (file) =>
        !CLOCK_FILES.includes(file) &&
        CLOCKS.test(codeOf(file).replaceAll(/import \{ setTimeout as \w+ \}.*$/gm, '')),
    )
    expect(offenders).toEqual([])
  })

  it('has no default export and no barrel but the entries', () => {
    const modules = files.filter((file) => !file.endsWith('.config.ts'))
    expect(modules.filter((file) => /^export default /m.test(codeOf(file)))).toEqual([])
    const entries = [
      'machines/index.ts',
      'src/index.ts',
      'src/testing/index.ts',
      'src/adapters/fetch/index.ts',
      'src/adapters/inspect/index.ts',
      'src/stores/index.ts',
      'src/telemetry/index.ts',
    ]
    expect(
      files.filter((file) => file.endsWith('/index.ts')).filter((file) => !entries.includes(file)),
    ).toEqual([])
  })

  it('names files in kebab-case', () => {
    expect(files.filter((file) => !/^[a-z0-9/.-]+\.ts$/.test(file))).toEqual([])
  })

  it('is described in ARCHITECTURE.md, a line a file', () => {
    const told = readFileSync(resolve(root, 'ARCHITECTURE.md'), 'utf8')
    const whole = ['src/testing/paths/', 'src/testing/scenario/']
    const single = files.filter((file) => !whole.some((folder) => file.startsWith(folder)))
    const missing = single.filter(
      (file) => !new RegExp(`^ +${file.split('/').at(-1)!.replaceAll('.', '\\.')} `, 'm').test(told),
    )
    expect(missing).toEqual([])
  })
})
