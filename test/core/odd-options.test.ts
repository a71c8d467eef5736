import { describe, expect, it } from 'vitest'
import { createBreaker, createSwitchgear } from '../../src/index.ts'
import { errorOf } from '../support/fate.ts'
import { answer, rig } from '../support/rig.ts'

const targets = [{ name: 'a', invoke: answer('ok') }]

describe('odd options', () => {
  // call() gives a promise; and an error names the option.
  it('call() rejects options that are none, and names the one that is wrong', async () => {
    const { gear } = rig(targets)
    expect(() => gear.call('x', null as never).catch(() => {})).not.toThrow()
    expect(String(await errorOf(gear.call('x', { targets: 'a' as never })))).toMatch(/targets is/)
  })

  // "A number that is not one → RangeError", naming option, value and range; also where it has no text.
  it.each([['an object without a prototype', Object.create(null)] as const])(
    'an option that is %s is a RangeError',
    (_what, value) => {
      expect(() => createBreaker({ threshold: value as never })).toThrow(RangeError)
    },
  )

  it('a name that is a bigint is refused by name', () => {
    const targets = [{ name: 10n as never, invoke: answer('ok') }]
    expect(() => createSwitchgear({ targets })).toThrow(/targets\[0\]\.name/)
  })

  // a kind that is silently dropped cannot work.
  it('kinds called __proto__ are refused', () => {
    const kinds = JSON.parse('{"__proto__": {"immediateOpen": true}}') as never
    expect(() => createBreaker({ kinds })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }))
  })

  // An error's text is for people: a name of a million letters is neither read nor compared letter by letter (1 s).
  it('a very long unknown name is cut in the error', async () => {
    const { gear } = rig(targets)
    const error = await errorOf(gear.call('x', { targets: ['n'.repeat(1_000_000)] }))
    expect(String(error).length).toBeLessThan(1000)
  })
})
