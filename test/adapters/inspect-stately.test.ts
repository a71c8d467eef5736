import { createInspector } from '@statelyai/inspect'
import type { StatelyInspectionEvent } from '@statelyai/inspect'
import { describe, expect, it } from 'vitest'
import { createActor, createMachine } from 'xstate'

import { ActorFeed } from '../../src/adapters/inspect/actor-feed.ts'
import { definitions } from '../../src/adapters/inspect/definitions.ts'
import { breakerMachine } from '../../machines/index.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import {
  actorMessage,
  rowMessages,
  snapshotMessage,
} from '../../visualizations/inspector/stately-messages.ts'
import { answer, failing, rig, status } from '../support/rig.ts'

/** What the package itself makes of a breaker that is told to open. */
async function stock(): Promise<StatelyInspectionEvent[]> {
  const told: StatelyInspectionEvent[] = []
  const { inspect } = createInspector({ send: (event) => told.push(event) })
  const input = { policy: resolveBreaker({}).policy, at: 0 }
  const actor = createActor(breakerMachine, { input, inspect }).start()
  actor.send({ type: 'operator.opened', at: 1, roll: 0, by: 'alice', reason: '', hold: true })
  // it converts each event in a timer of its own
  await expect.poll(() => told.filter(({ type }) => type === '@xstate.snapshot').length).toBe(2)
  return told
}

/** The same breaker as we tell of it. */
function ours() {
  const { gear, clock } = rig([{ name: 'openai', invoke: answer(''), circuitBreaker: true }])
  const feed = new ActorFeed(gear.supervisor, clock, () => {})
  feed.open()
  const actor = feed.picture().actors.at(-1)!
  gear.openCircuit({}, { hold: true })
  const row = feed.news()!.rows.at(-1)!
  return [
    actorMessage(actor, actor.snapshot, definitions.breaker, 5),
    ...rowMessages(actor, row),
    snapshotMessage(actor, row.snapshot!, { type: '' }, 7),
  ]
}

describe('messages for the Stately inspector', () => {
  it('have the fields of those of its own package, and no others', async () => {
    const theirs = new Map((await stock()).map((message) => [message.type, message]))
    for (const message of ours()) {
      const { type, ...own } = message
      const stockOne = theirs.get(type)!
      const { _version, id } = stockOne
      expect(Object.keys(message).sort(), type).toEqual(Object.keys(stockOne).sort())
      expect(own).toMatchObject({ _version, id })
      if ('snapshot' in message) {
        const known = JSON.parse(JSON.stringify((stockOne as { snapshot: object }).snapshot)) as object
        for (const key of Object.keys(message.snapshot)) expect(known, key).toHaveProperty(key)
      }
    }
    expect(ours().map(({ type, createdAt }) => [type, createdAt])).toEqual([
      ['@xstate.actor', '5'],
      ['@xstate.event', '1000000'],
      ['@xstate.snapshot', '1000000'],
      ['@xstate.snapshot', '7'],
    ])
  })

  it('tell what the package tells of the machine, but for context, which is none of the definition', async () => {
    const [first] = await stock()
    const { context: _context, ...stockOne } = JSON.parse((first as { definition: string }).definition) as {
      context: unknown
    }
    expect(JSON.parse(definitions.breaker)).toEqual(stockOne)
  })

  it('carry definitions and values that a reader can put together again', async () => {
    const { gear, clock } = rig([
      { name: 'a', invoke: failing(status(503)), circuitBreaker: { threshold: 1 }, maxRetries: 0 },
      { name: 'b', invoke: answer('fine'), circuitBreaker: true },
    ])
    const feed = new ActorFeed(gear.supervisor, clock, () => {})
    feed.open()
    await gear.call('request')
    const news = feed.news()!
    const all = [...feed.picture().actors, ...news.actors]
    const machines = new Map(all.map(({ id, machine }) => [id, machine]))
    const shown = [...all, ...news.rows]
    const values = shown.flatMap(({ id, snapshot }) => {
      if (snapshot === undefined) return []
      const machine = createMachine(JSON.parse(definitions[machines.get(id)!]) as object)
      return [machine.resolveState({ value: snapshot.value as never }).value]
    })
    expect(values).toEqual(shown.flatMap(({ snapshot }) => snapshot?.value ?? []))
    expect(values).toContainEqual({ open: 'cooling' })
    expect(values).toContainEqual('succeeded')
  })
})
