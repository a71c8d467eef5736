import type { SnapshotFrom } from 'xstate'
import { chainMachine } from '../../../machines/chain.machine.ts'
import { firstToReturn } from '../../../machines/chain-context.ts'
import type { ChainPlan, Refusal } from '../../../machines/chain-events.ts'
import { CHAIN_STARTED_AT } from './chain-plans.ts'
import { chainSteps, FAR_AWAY } from './chain-steps.ts'
import type { Model } from './model.ts'

const isFar = ({ retryAt }: Refusal) => (retryAt === null ? 'unknown' : retryAt > CHAIN_STARTED_AT + FAR_AWAY)

/** What tells two configurations of a chain apart: all but the dates. */
export function chainKey({ value, context }: SnapshotFrom<typeof chainMachine>): string {
  const { ahead, list, target, attempt, asked, refused, lastResort, bypassed, waitUntil, patienceUntil } =
    context
  const refusals = refused.map((refusal) => [refusal.target, refusal.reason, isFar(refusal)])
  const waits = [waitUntil !== null, patienceUntil !== null]
  const first = firstToReturn(context)?.target
  const against = [lastResort, bypassed]
  return JSON.stringify([value, ahead, list, target, attempt, asked, refusals, first, against, waits])
}

/** The chain under one plan. */
export function chainModel(name: string, plan: ChainPlan): Model<typeof chainMachine> {
  return {
    name,
    machine: chainMachine,
    input: { plan },
    startAt: CHAIN_STARTED_AT,
    events: ({ context }, now) => chainSteps(context, now),
    key: chainKey,
    deadline: () => null,
  }
}
