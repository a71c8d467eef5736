import { createActor } from 'xstate'
import type { SnapshotFrom } from 'xstate'
import { chainMachine } from '../../../machines/chain.machine.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { supervisorMachine } from '../../../machines/supervisor.machine.ts'
import type { SupervisorEvent } from '../../../machines/supervisor.machine.ts'
import { takenTransitions } from '../graph-seam.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { breakerPolicies } from './breaker-policies.ts'
import { chainPlans } from './chain-plans.ts'
import type { PathFault } from './replay-path.ts'

type SupervisorSnapshot = SnapshotFrom<typeof supervisorMachine>

/** A policy that works until it is poisoned; then reading its rules throws. */
export function poisonable(policy: BreakerPolicy): { readonly policy: BreakerPolicy; poisoned: boolean } {
  const trap = {
    poisoned: false,
    policy: {
      ...policy,
      get rules() {
        if (trap.poisoned) throw new Error('poisoned')
        return policy.rules
      },
    },
  }
  return trap
}

/** One step of the drive: what is done, and what must be true after it. */
interface Step {
  readonly name: string
  readonly act: () => void
  readonly holds: (now: SupervisorSnapshot, before: SupervisorSnapshot) => boolean
}

export interface Drive {
  readonly configurations: number
  readonly steps: number
  readonly taken: ReadonlySet<object>
  readonly faults: readonly PathFault[]
}

const at = 1000
const byOps = { by: 'ops', reason: 'drill' } as const
const open = { type: 'operator.opened', at, roll: 0.5, hold: true, ...byOps } as const
const empty = { rules: [], kinds: {}, consecutiveFailures: 1 }
const failed = {
  type: 'call.failed',
  at,
  generation: 1,
  roll: 0.5,
  failure: 'timeout',
  reading: empty,
} as const

const keyOf = ({ context, children }: SupervisorSnapshot) =>
  JSON.stringify([Object.keys(children).toSorted(), context.chains, context.replaced])

/** Takes a real supervisor through its life: use, commands, calls, a breaker that fails, eviction. */
export function driveSupervisor(): Drive {
  const clock = new VirtualClock(at)
  const taken = new Set<object>()
  const inspect = (event: Parameters<typeof takenTransitions>[0]) => {
    for (const definition of takenTransitions(event)) taken.add(definition)
  }
  const supervisor = createActor(supervisorMachine, { clock, inspect })
  const errors: unknown[] = []
  supervisor.subscribe({ error: (error) => errors.push(error) })
  supervisor.start()
  const send = (event: SupervisorEvent) => () => supervisor.send(event)
  const [policy = poisonable({} as BreakerPolicy).policy] = Object.values(breakerPolicies)
  const trap = poisonable(policy)
  const [plan] = Object.values(chainPlans)
  const chain = createActor(chainMachine, { input: { plan: plan! } })
  const wanted = [
    { bucket: 'a', policy: trap.policy },
    { bucket: 'b/c', policy },
  ]
  const childOf = ({ children }: SupervisorSnapshot, bucket: string) => children[bucket]
  const poison = () => {
    trap.poisoned = true
    childOf(supervisor.getSnapshot(), 'a')?.send(failed)
    trap.poisoned = false
  }
  const strange = { type: 'xstate.error.actor.gone', actorId: 'gone', error: new Error('gone') } as const
  const steps: Step[] = [
    {
      name: 'two buckets are used',
      act: send({ type: 'breakers.wanted', wanted, at }),
      holds: (now) => Object.keys(now.children).length === 2,
    },
    {
      name: 'one is used again',
      act: send({ type: 'breakers.wanted', wanted: wanted.slice(0, 1), at }),
      holds: (now, before) => childOf(now, 'a') === childOf(before, 'a'),
    },
    {
      name: 'an operator opens one',
      act: send({ type: 'operator.commanded', bucket: 'b/c', command: open, at }),
      holds: (now) => childOf(now, 'b/c')?.getSnapshot().context.hold?.by === 'ops',
    },
    {
      name: 'an operator opens one that is not there',
      act: send({ type: 'operator.commanded', bucket: 'x', command: open, at }),
      holds: (now, before) => now === before,
    },
    {
      name: 'a chain starts',
      act: send({ type: 'chain.started', call: '1', chain, at }),
      holds: ({ context }) => context.chains === 1,
    },
    {
      name: 'it ends',
      act: send({ type: 'chain.ended', call: '1', at }),
      holds: ({ context }) => context.chains === 0,
    },
    {
      name: 'a breaker fails',
      act: poison,
      holds: (now, before) =>
        now.context.replaced === 1 &&
        childOf(now, 'a') !== childOf(before, 'a') &&
        childOf(now, 'a')?.getSnapshot().status === 'active' &&
        childOf(now, 'b/c') === childOf(before, 'b/c'),
    },
    {
      name: 'an unknown actor fails',
      act: () => supervisor.send(strange),
      holds: (now, before) => now.status === 'active' && now.context === before.context,
    },
    {
      name: 'one is evicted',
      act: send({ type: 'breaker.evicted', bucket: 'a', at }),
      holds: (now) => childOf(now, 'a') === undefined && !Object.hasOwn(now.context.breakers, 'a'),
    },
    {
      name: 'it is evicted again',
      act: send({ type: 'breaker.evicted', bucket: 'a', at }),
      holds: (now, before) => now === before,
    },
  ]
  const faults: PathFault[] = []
  const keys = new Set([keyOf(supervisor.getSnapshot())])
  for (const [i, { name, act, holds }] of steps.entries()) {
    const before = supervisor.getSnapshot()
    act()
    keys.add(keyOf(supervisor.getSnapshot()))
    if (holds(supervisor.getSnapshot(), before) && errors.length === 0) continue
    const events = steps.slice(0, i + 1).map((step) => step.name)
    faults.push({
      model: 'supervisor',
      events,
      message: `not so after '${name}' ${errors.map(String).join()}`,
    })
  }
  supervisor.stop()
  return { configurations: keys.size, steps: steps.length, taken, faults }
}
