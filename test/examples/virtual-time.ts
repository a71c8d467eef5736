import assert from 'node:assert/strict'
import { createBreaker } from 'switchgear'
import { VirtualClock } from 'switchgear/testing'

const clock = new VirtualClock()
const breaker = createBreaker({ threshold: 2, cooldownMs: 30_000, clock })
const fail = () => breaker.execute(() => Promise.reject(new Error('down'))).catch(() => {})

await fail()
await fail()
assert.equal(breaker.state, 'open')

clock.advance(30_000)
assert.equal(breaker.state, 'half-open')

await breaker.execute(async () => 'well again')
assert.equal(breaker.state, 'closed')
