import { createActor } from 'xstate'
import type { ActorRefFrom } from 'xstate'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { supervisorMachine } from '../../machines/supervisor.machine.ts'
import type { OperatorCommand } from '../../machines/supervisor.machine.ts'
import type { Clock } from './clock.ts'
import type { Notifier } from './notifier.ts'

export type BreakerRef = ActorRefFrom<typeof breakerMachine>
export type SupervisorRef = ActorRefFrom<typeof supervisorMachine>

/** Where a breaker actor lives. */
export interface Host {
  spawn(bucket: string, policy: BreakerPolicy, at: number): BreakerRef
  /** The actor that took the place of one that failed. */
  replacement(bucket: string, policy: BreakerPolicy, at: number): BreakerRef
  command(bucket: string, breaker: BreakerRef, command: OperatorCommand): void
  stop(bucket: string, breaker: BreakerRef, at: number): void
}

/** The clock as XState wants it; what a delay has moved is told after it. */
export function actorClock(clock: Clock, notifier: Notifier) {
  return {
    setTimeout: (run: () => void, ms: number) =>
      clock.setTimeout(() => {
        run()
        notifier.flush()
      }, ms),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  }
}

/** A breaker that is a root of its own. */
export function rootHost(clock: Clock, notifier: Notifier): Host {
  const spawn = (_bucket: string, policy: BreakerPolicy, at: number): BreakerRef =>
    createActor(breakerMachine, { input: { policy, at }, clock: actorClock(clock, notifier) }).start()
  return {
    spawn,
    replacement: spawn,
    command: (_bucket, breaker, command) => breaker.send(command),
    stop: (_bucket, breaker) => void breaker.stop(),
  }
}

/** Breakers spawned and kept by a supervisor. */
export function supervisorHost(supervisor: SupervisorRef): Host {
  const childOf = (bucket: string): BreakerRef => {
    const child = supervisor.getSnapshot().children[bucket]
    if (child === undefined) throw new Error(`the supervisor has no breaker '${bucket}'`)
    return child
  }
  return {
    spawn(bucket, policy, at) {
      supervisor.send({ type: 'breakers.wanted', wanted: [{ bucket, policy }], at })
      return childOf(bucket)
    },
    replacement: (bucket) => childOf(bucket),
    command: (bucket, _breaker, command) =>
      supervisor.send({ type: 'operator.commanded', bucket, command, at: command.at }),
    stop: (bucket, _breaker, at) => supervisor.send({ type: 'breaker.evicted', bucket, at }),
  }
}

/** A running supervisor. Its errors are reported, never thrown into the process. */
export function startSupervisor(clock: Clock, notifier: Notifier): SupervisorRef {
  const supervisor = createActor(supervisorMachine, { clock: actorClock(clock, notifier) })
  supervisor.subscribe({
    error: (error) => notifier.logger.error({ err: { message: String(error) } }, 'the supervisor failed'),
  })
  supervisor.on('breaker.replaced', ({ bucket, message }) =>
    notifier.logger.error({ bucket, err: { message } }, `the breaker of '${bucket}' failed and was replaced`),
  )
  return supervisor.start()
}
