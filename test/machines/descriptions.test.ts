import { describe, expect, it } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import { chainMachine } from '../../machines/chain.machine.ts'
import { breakerSentences, chainSentences, supervisorSentences } from '../../machines/sentences.ts'
import { supervisorMachine } from '../../machines/supervisor.machine.ts'
import { implementedNames, stateNodes, usedNames, writtenTransitions } from '../../src/testing/graph-seam.ts'
import { breakerPolicies } from '../../src/testing/paths/breaker-policies.ts'
import { placeOf } from '../../src/testing/paths/cover-machines.ts'

const sorted = (names: Iterable<string>) => [...names].sort()
const policies = Object.entries(breakerPolicies)
const [[, plain]] = policies as [(typeof policies)[number]]

interface Subject {
  readonly machine: AnyStateMachine
  readonly sentences: Readonly<Record<string, string>>
  readonly states: number
  readonly transitions: number
}

// counted by hand: a machine that grows shall be looked at again
const SUBJECTS: Record<string, Subject> = {
  breaker: { machine: breakerMachine, sentences: breakerSentences(plain), states: 9, transitions: 32 },
  chain: { machine: chainMachine, sentences: chainSentences, states: 13, transitions: 19 },
  supervisor: { machine: supervisorMachine, sentences: supervisorSentences, states: 2, transitions: 7 },
}

/** A whole sentence, not a stub. */
const says = (text: string | undefined) => text !== undefined && /^\p{Lu}.{5,}[.?]$/u.test(text)

describe.each(Object.entries(SUBJECTS))('the %s machine', (_id, subject) => {
  const { machine, sentences } = subject
  const used = usedNames(machine)
  const implemented = implementedNames(machine)

  it('has as many states and transitions as we know of', () => {
    expect(stateNodes(machine)).toHaveLength(subject.states)
    expect(writtenTransitions(machine)).toHaveLength(subject.transitions)
  })

  it('describes every state', () => {
    const silent = stateNodes(machine).filter(({ description }) => !says(description))
    expect(silent.map(({ id }) => id)).toEqual([])
  })

  it('describes every transition', () => {
    const silent = writtenTransitions(machine).filter(({ description }) => !says(description))
    expect(silent.map(placeOf)).toEqual([])
  })

  it('describes no two transitions of a state alike', () => {
    for (const [source, list] of Map.groupBy(writtenTransitions(machine), (written) => written.source)) {
      const texts = list.map(({ event, description }) => `${event}: ${description}`)
      expect(new Set(texts).size, source).toBe(texts.length)
    }
  })

  it('names every guard, action and delay, and writes none inline', () => {
    expect(used.inline).toEqual([])
  })

  it('implements what it names, and names what it implements', () => {
    expect(sorted(used.guards)).toEqual(sorted(implemented.guards))
    expect(sorted(used.actions)).toEqual(sorted(implemented.actions))
    expect(sorted(used.delays)).toEqual(sorted(implemented.delays))
  })

  it('has a sentence for every guard, and none for a guard that it does not have', () => {
    expect(sorted(Object.keys(sentences))).toEqual(sorted(used.guards))
    expect(Object.entries(sentences).filter(([, text]) => text.trim() === '')).toEqual([])
  })

  it('offers no transition behind one that always matches', () => {
    const bySlot = Map.groupBy(writtenTransitions(machine), ({ source, event }) => `${source} -- ${event}`)
    for (const [slot, list] of bySlot) {
      const open = list.findIndex(
        ({ definition }) => !('guard' in definition) || definition.guard === undefined,
      )
      if (open >= 0) expect(open, slot).toBe(list.length - 1)
    }
  })
})

describe("the breaker's sentences", () => {
  it.each(policies)('carry the numbers of the policy: %s', (_name, policy) => {
    const sentences = breakerSentences(policy)
    expect(sorted(Object.keys(sentences))).toEqual(sorted(implementedNames(breakerMachine).guards))
    for (const [guard, text] of Object.entries(sentences)) {
      expect(text, guard).toMatch(/\S{2,}/)
      expect(text, guard).not.toMatch(/undefined|null|NaN|Infinity|\[object/)
    }
    for (const rule of policy.rules) {
      if ('threshold' in rule) expect(sentences.outcomeTrips).toContain(String(rule.threshold))
      if ('minCalls' in rule) expect(sentences.outcomeTrips).toContain(String(rule.minCalls))
    }
    expect(sentences.ratioMet).toContain(String(policy.halfOpenProbes))
    expect(sentences.slotIsFree).toContain(String(policy.halfOpenConcurrency))
    for (const kind of Object.entries(policy.kinds)) {
      if (kind[1].immediateOpen === true || kind[1].threshold !== undefined)
        expect(sentences.outcomeTrips).toContain(kind[0])
    }
  })
})
