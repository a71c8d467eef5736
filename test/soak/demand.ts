import { faultTable } from '../../src/testing/faults.ts'
import { aloneModels, groupModels, targetNames } from './config.ts'
import type { DialectName } from './dialects.ts'

/** What a client asks for, and how long it stays. */
export interface Demand {
  readonly dialect: DialectName
  readonly model: string
  readonly stream: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Not even JSON. */
  readonly broken: boolean
  /** It leaves so long after it has asked, in ms, or at the first byte of a body; undefined = it waits for the end. */
  readonly leaves: number | 'first byte' | undefined
}

const FAULTS = faultTable.filter(({ name }) => name !== 'slow' && name !== 'drip').map(({ name }) => name)

/** Draws what the next client asks for. */
export function draw(random: () => number): Demand {
  const below = (n: number) => Math.floor(random() * n)
  const one = <T>(list: readonly T[]): T => list[below(list.length)]!
  const chance = (share: number) => random() < share

  // most of the time of a stream is waiting for the next word
  const healthy = () => (chance(0.85) ? `drip-${50 + below(300)}` : `slow-${below(900)}`)
  const model = chance(0.5) ? healthy() : one(chance(0.6) ? FAULTS : chance(0.8) ? groupModels : aloneModels)
  const isAlone = aloneModels.some((name) => name === model)
  const broken = chance(0.005)
  const addressed = chance(0.03)
  // what the gateway turns away by itself only its clients can count: they wait for it
  const stays = broken || addressed || chance(0.85)
  return {
    dialect: isAlone || chance(0.7) ? 'chat' : one(['responses', 'messages'] as const),
    model,
    stream: chance(0.9),
    headers: {
      ...(chance(0.15) && { 'x-switchgear-no-fallback': 'true' }),
      ...(addressed && { 'x-switchgear-target': one(targetNames) }),
    },
    broken,
    leaves: stays ? undefined : chance(0.3) ? 'first byte' : below(900),
  }
}
