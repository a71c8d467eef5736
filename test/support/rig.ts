import { createSwitchgear } from '../../src/index.ts'
import type { Switchgear, SwitchgearOptions, TargetOptions } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export type Target = TargetOptions<string, string, string>
export type Options = Partial<SwitchgearOptions<string, string, string>>

export interface Rig {
  readonly clock: VirtualClock
  readonly gear: Switchgear<string, string, string>
}

/** A switchgear on a clock that stands still, without chance. */
export function rig(targets: readonly Target[], options: Options = {}): Rig {
  const clock = new VirtualClock(1_000_000)
  const gear = createSwitchgear<string, string, string>({ targets, clock, random: () => 0, ...options })
  return { clock, gear }
}

export const status = (code: number, more: object = {}) =>
  Object.assign(new Error(`status ${code}`), { status: code, ...more })

export const answer = (text: string) => () => Promise.resolve(text)

export const failing = (error: unknown) => () => Promise.reject(error)

export const never = () => new Promise<string>(() => {})

/** Things that people throw, each of which a careless `String(error)` or `instanceof` stumbles over. */
export const HOSTILE: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['an empty string', ''],
  ['a symbol', Symbol('boom')],
  ['an object without a prototype', Object.create(null)],
  [
    'an object whose toString throws',
    {
      toString() {
        throw new Error('toString')
      },
    },
  ],
  [
    'an error whose message throws',
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('message')
      },
    }),
  ],
  [
    'a proxy whose traps throw',
    new Proxy(
      {},
      {
        get() {
          throw new Error('get')
        },
        getPrototypeOf() {
          throw new Error('getPrototypeOf')
        },
      },
    ),
  ],
]
