import { createActor } from 'xstate'
import type { EventFromLogic, SnapshotFrom } from 'xstate'
import { chainMachine } from '../../../machines/chain.machine.ts'
import { supervisorMachine } from '../../../machines/supervisor.machine.ts'
import { breakerPolicies } from './breaker-policies.ts'
import { chainPlans } from './chain-plans.ts'
import type { Model } from './model.ts'

const STARTED_AT = 1_000_000
const BUCKETS = ['openai', 'anthropic/fast']
// beyond that a count tells no configuration from another
const MOST_CHAINS = 2
const MOST_REPLACED = 1

type Supervisor = typeof supervisorMachine
type Snapshot = SnapshotFrom<Supervisor>
type Step = EventFromLogic<Supervisor>

/** What tells two configurations of a supervisor apart: which buckets have a breaker, and small counts. */
export function supervisorKey({ value, context }: Snapshot): string {
  const counts = [Math.min(context.chains, MOST_CHAINS), Math.min(context.replaced, MOST_REPLACED)]
  return JSON.stringify([value, Object.keys(context.breakers).sort(), counts])
}

const operator = { by: 'ops', reason: 'drill' } as const

function bucketSteps(bucket: string, at: number): Step[] {
  const policy = Object.values(breakerPolicies)[0]
  const wanted = policy === undefined ? [] : [{ bucket, policy }]
  return [
    { type: 'breakers.wanted', at, wanted },
    { type: 'breaker.evicted', at, bucket },
    {
      type: 'operator.commanded',
      at,
      bucket,
      command: { type: 'operator.opened', at, roll: 0.5, ...operator },
    },
    { type: 'operator.commanded', at, bucket, command: { type: 'operator.closed', at, ...operator } },
    { type: `xstate.error.actor.${bucket}`, actorId: bucket, error: new Error('broken') },
  ]
}

function chainSteps(chains: number, at: number): Step[] {
  const plan = Object.values(chainPlans)[0]
  if (plan === undefined) return []
  const call = `call ${chains + 1}`
  const chain = createActor(chainMachine, { input: { plan } })
  const ended: Step[] = chains > 0 ? [{ type: 'chain.ended', at, call: `call ${chains}` }] : []
  return [{ type: 'chain.started', at, call, chain }, ...ended]
}

/** The supervisor with two buckets in use and one that nobody has heard of. */
export function supervisorModel(): Model<Supervisor> {
  return {
    name: 'two buckets',
    machine: supervisorMachine,
    input: undefined,
    startAt: STARTED_AT,
    events: ({ context }, now) => {
      const at = now + 10
      const buckets = BUCKETS.flatMap((bucket) => bucketSteps(bucket, at))
      const strange = bucketSteps('nobody', at).slice(1)
      return [...buckets, ...strange, ...chainSteps(context.chains, at)]
    },
    key: supervisorKey,
    deadline: () => null,
  }
}
