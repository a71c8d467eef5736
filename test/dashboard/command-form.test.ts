import { describe, expect, it } from 'vitest'

import { orderOf } from '../../visualizations/dashboard/command-form.ts'
import type { Filled } from '../../visualizations/dashboard/command-form.ts'

const filled = (traits: Partial<Filled> = {}): Filled => ({
  reason: ' provider is down ',
  way: 'open',
  lasts: '60',
  otherMinutes: '',
  ...traits,
})
const reason = 'provider is down'

describe('what is sent for a command', () => {
  it('is open or close with its reason', () => {
    expect(orderOf('open', filled())).toEqual({ verb: 'open', command: { reason } })
    expect(orderOf('close', filled())).toEqual({ verb: 'close', command: { reason } })
  })

  it('is a hold either way, for a time or until somebody ends it', () => {
    const hour = { reason, hold: true, ttlMs: 3_600_000 }
    expect(orderOf('hold', filled())).toEqual({ verb: 'open', command: hour })
    expect(orderOf('hold', filled({ way: 'closed' }))).toEqual({ verb: 'close', command: hour })
    expect(orderOf('hold', filled({ lasts: 'ever' }))).toEqual({
      verb: 'open',
      command: { reason, hold: true },
    })
    const own = orderOf('hold', filled({ lasts: 'other', otherMinutes: '1.5' }))
    expect(own).toMatchObject({ command: { ttlMs: 90_000 } })
  })

  it.each(['', ' ', '0', '-3', 'ten', '527041'])('is nothing for %j minutes', (otherMinutes) => {
    expect(orderOf('hold', filled({ lasts: 'other', otherMinutes }))).toMatch(/minutes/)
  })

  it('is nothing without a reason', () => {
    expect(orderOf('open', filled({ reason: '  ' }))).toMatch(/Say why/)
  })
})
