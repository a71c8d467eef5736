import { expect, it } from 'vitest'
import { createSwitchgear } from '../../src/index.ts'
import type { Switchgear, TargetOptions } from '../../src/index.ts'
import type { JournalStore } from '../../src/stores/journal-store.ts'
import { desk, tamper } from './support.ts'
import type { Desk } from './support.ts'

const down = () => Promise.reject(Object.assign(new Error('down'), { status: 503 }))
const answer = (request: string) => (request === 'fail' ? down() : Promise.resolve(request))

const rules = { threshold: 1, cooldownMs: 10_000, halfOpenProbes: 2 }
const target = (
  name: string,
  more: Partial<TargetOptions<string, string, string>> = {},
): TargetOptions<string, string, string> => ({
  name,
  invoke: answer,
  maxRetries: 0,
  circuitBreaker: rules,
  ...more,
})

const NAMES = ['open', 'half', 'held', 'kept', 'calm']

/** A life of the process, on the journal of the desk. */
function life(
  at: Desk,
  journal: Pick<JournalStore, 'append' | 'latest'> = at.journal,
): Switchgear<string, string, string> {
  return createSwitchgear<string, string, string>({
    clock: at.clock,
    random: () => 0,
    journal,
    snapshots: journal.latest(),
    targets: NAMES.map((name) => target(name)),
  })
}

/** The process is gone, without a goodbye of the switchgear. */
function died(at: Desk) {
  at.journal.close()
  return at.open()
}

const statesOf = (gear: Switchgear<string, string, string>) =>
  Object.fromEntries(gear.getCircuitStates().map(({ provider, state }) => [provider, state]))

async function outage(at: Desk): Promise<Switchgear<string, string, string>> {
  const gear = life(at)
  await gear.call('fail', { targets: ['half'] }).catch(() => {})
  at.clock.advance(10_000)
  await gear.call('ok', { targets: ['half'] })
  await gear.call('fail', { targets: ['open'] }).catch(() => {})
  gear.openCircuit({ name: 'held' }, { hold: true, by: 'kim', reason: 'the bill', ttlMs: 60_000 })
  gear.closeCircuit({ name: 'kept' }, { hold: true, by: 'lee', reason: 'no refusals today' })
  await gear.call('ok', { targets: ['calm'] })
  expect(statesOf(gear)).toEqual({
    open: 'open',
    half: 'half-open',
    held: 'open',
    kept: 'closed',
    calm: 'closed',
  })
  return gear
}

it('every circuit goes on: open waits for the rest, held is held, a trial begins anew', async () => {
  const at = desk()
  await outage(at)
  at.clock.advance(4000)
  const gear = life(at, died(at))
  expect(statesOf(gear)).toEqual({
    open: 'open',
    half: 'half-open',
    held: 'open',
    kept: 'closed',
    calm: 'closed',
  })
  expect(gear.getStatus({ name: 'open' })).toMatchObject({ retryAfterMs: 6000, cause: { why: 'tripped' } })
  expect(gear.getStatus({ name: 'half' })?.probes).toMatchObject({ succeeded: 0, inFlight: 0 })
  expect(gear.getStatus({ name: 'held' })).toMatchObject({ held: true, retryAfterMs: 56_000 })
  expect(gear.explain({ name: 'held' })?.sentence).toContain('held by kim ("the bill")')
  await gear.call('fail', { targets: ['kept'] }).catch(() => {})
  expect(gear.getStatus({ name: 'kept' })).toMatchObject({ held: true, state: 'closed' })
  at.clock.advance(6000)
  expect(statesOf(gear)).toMatchObject({ open: 'half-open', held: 'open' })
  at.clock.advance(50_000)
  expect(statesOf(gear)).toMatchObject({ held: 'half-open' })
})

it('and again in a third life: nothing fades', async () => {
  const at = desk()
  await outage(at)
  const second = died(at)
  life(at, second)
  second.close()
  at.clock.advance(4000)
  const gear = life(at, at.open())
  expect(gear.getStatus({ name: 'open' })).toMatchObject({ retryAfterMs: 6000, cause: { why: 'tripped' } })
  expect(gear.getStatus({ name: 'held' })).toMatchObject({ held: true, retryAfterMs: 56_000 })
  expect(gear.getStatus({ name: 'half' })?.state).toBe('half-open')
})

it('a circuit that is overdue is tried at once', async () => {
  const at = desk()
  await outage(at)
  at.clock.advance(3_600_000)
  expect(statesOf(life(at, died(at)))).toMatchObject({ open: 'half-open', held: 'half-open', kept: 'closed' })
})

it('a death between the beginning of a breaker and its return loses nothing', async () => {
  const at = desk()
  await outage(at)
  const second = died(at)
  // the journal of a process that died right after the first row of every breaker
  const began = life(at, {
    append: (entry) => entry.event.type === 'breaker.started' && second.append(entry),
    latest: () => second.latest(),
  })
  expect(statesOf(began)).toMatchObject({ open: 'open', held: 'open' })
  second.close()
  expect(statesOf(life(at, at.open()))).toMatchObject({ open: 'open', half: 'half-open', held: 'open' })
})

it('a saved circuit that was damaged starts closed, with a warning; the others go on', async () => {
  const at = desk()
  await outage(at)
  at.journal.close()
  tamper(at.file, `UPDATE rows SET saved = substr(saved, 1, 40) WHERE circuit = 'open'`)
  const gear = life(at, at.open())
  expect(statesOf(gear)).toMatchObject({ open: 'closed', half: 'half-open', held: 'open' })
  expect(at.lines.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    expect.stringMatching(/^warn: the saved circuit 'open' in row \d+ .* starts closed/),
  ])
})

it('a file that nobody can read: every circuit starts closed, and the switchgear works', async () => {
  const at = desk()
  await outage(at)
  at.journal.close()
  tamper(at.file, 'PRAGMA application_id = 1')
  const journal = at.open()
  const gear = life(at, journal)
  expect(statesOf(gear)).toMatchObject({ open: 'closed', held: 'closed' })
  await gear.call('fail', { targets: ['open'] }).catch(() => {})
  expect(statesOf(gear)).toMatchObject({ open: 'open' })
  expect(journal.health).toMatchObject({ state: 'degraded', waiting: 6 })
})

it('circuits by model come back before their first use, and forgotten ones do not', async () => {
  const at = desk()
  const isolating = (journal: typeof at.journal) =>
    createSwitchgear<string, string, string>({
      clock: at.clock,
      journal,
      maxBuckets: 2,
      snapshots: journal.latest(),
      targets: [target('a', { circuitBreaker: { ...rules, isolateByModel: true } })],
    })
  const gear = isolating(at.journal)
  for (const model of ['x', 'y', 'z']) await gear.call('fail', { model }).catch(() => {})
  const again = died(at)
  expect(Object.keys(again.latest()).sort()).toEqual(['a/y', 'a/z'])
  const after = isolating(again)
  expect(after.getCircuitStates('y').map(({ state }) => state)).toEqual(['open'])
  expect(after.getCircuitStates('x').map(({ state }) => state)).toEqual(['closed'])
})

it('other rules for a circuit do not make the journal forget it', async () => {
  const at = desk()
  const options = (cooldownMs: number) => ({
    targets: [target('a', { circuitBreaker: { ...rules, cooldownMs, isolateByModel: true } })],
  })
  const gear = createSwitchgear<string, string, string>({
    ...options(10_000),
    clock: at.clock,
    journal: at.journal,
  })
  await gear.call('fail', { model: 'x' }).catch(() => {})
  gear.reconfigure(options(20_000))
  expect(Object.keys(at.journal.latest())).toEqual(['a/x'])
  await gear.call('ok', { model: 'x' }).catch(() => {})
  expect(
    at.journal.rows({ circuit: 'a/x', type: 'breaker.started' }).map(({ saved }) => saved?.state),
  ).toEqual(['open', 'closed'])
  gear.reconfigure({ targets: [target('b')] })
  expect(Object.keys(at.journal.latest())).toEqual(['b'])
})
