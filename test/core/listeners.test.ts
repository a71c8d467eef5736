import { describe, expect, it } from 'vitest'
import { errorOf } from '../support/fate.ts'
import { answer, failing, rig, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

const target = (name: string, invoke: NonNullable<Target['invoke']>, more: Partial<Target> = {}): Target => ({
  name,
  invoke,
  maxRetries: 0,
  circuitBreaker: { threshold: 3, cooldownMs: 10_000 },
  ...more,
})
const down = failing(status(500))

describe('listeners', () => {
  // "Listeners cannot hurt … may call back into the system": one that stops and starts anew is heard without end,
  // because a Set shows what is added while it is read. Without the guard below the process hangs for good.
  it('that start anew hear each change once', () => {
    const { gear } = rig([target('a', answer('ok'))])
    let heard = 0
    let stop = () => {}
    const listen = () => {
      stop()
      if (++heard < 100) stop = gear.on('transition', listen)
    }
    stop = gear.on('transition', listen)
    gear.openCircuit()
    expect(heard).toBe(1)
  })

  // they run after the commit; who comes after that has missed it.
  it('that come while a change is told hear the next one', () => {
    const { gear } = rig([target('a', answer('ok'))])
    const heard: string[] = []
    const stop = gear.on('transition', () => {
      stop()
      gear.on('transition', ({ to }) => heard.push(to))
    })
    gear.openCircuit()
    gear.closeCircuit()
    expect(heard).toEqual(['closed'])
  })

  // `on` "returns the way to stop": its own, not that of somebody else who came with the same function.
  it('a function that listens twice goes on after one of them is stopped', () => {
    const { gear } = rig([target('a', answer('ok'))])
    let heard = 0
    const listen = () => heard++
    gear.on('transition', listen)
    gear.on('transition', listen)()
    gear.openCircuit()
    expect(heard).toBe(1)
  })

  // refuse what cannot work, where it is given.
  it('on() and observe() refuse what is no listener', () => {
    const { gear } = rig([target('a', answer('ok'))])
    const config = expect.objectContaining({ code: 'ERR_CONFIG' })
    expect(() => gear.on('transition', undefined as never)).toThrow(config)
    expect(() => gear.observe({} as never)).toThrow(config)
  })

  // The same: an unknown event is a ConfigError, whatever it is.
  it('on() refuses undefined with a ConfigError', () => {
    const { gear } = rig([target('a', answer('ok'))])
    expect(() => gear.on(undefined as never, () => {})).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG' }),
    )
  })

  // The answer's and the provider's texts are kept out of the log (notifier.ask); the error's own name is not, and may
  // be made of them.
  it('the name of an error that a classifier passes on is not logged', async () => {
    const KEY = 'sk-live-0123456789'
    const lines: string[] = []
    const log = (fields: object, text: string) => void lines.push(JSON.stringify(fields) + text)
    const classify = () => {
      throw Object.assign(new Error('x'), { name: `Refused ${KEY}` })
    }
    const { gear } = rig([target('a', down, { classify })], { logger: { info: log, warn: log, error: log } })
    await errorOf(gear.call('x'))
    expect(lines.filter((line) => line.includes(KEY))).toEqual([])
  })
})
