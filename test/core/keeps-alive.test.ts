import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const source = new URL('../../src/index.ts', import.meta.url).href

async function play(body: string): Promise<string> {
  const program = `import { createSwitchgear, createBreaker } from '${source}'\n${body}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  return stdout.trim()
}

describe('a process with nothing else to do', () => {
  it('waits for a call in its back-off, then ends', async () => {
    const told = await play(`
      let n = 0
      const invoke = async () => { if (n++ === 0) throw Object.assign(new Error('x'), { status: 503 }); return 'fine' }
      const gear = createSwitchgear({ targets: [{ invoke, retry: { baseMs: 50 } }] })
      gear.call('x').then(console.log)`)
    expect(told).toBe('fine')
  })

  it('waits for the limit of a target that never answers, then ends', async () => {
    const told = await play(`
      const invoke = () => new Promise(() => {})
      const gear = createSwitchgear({ targets: [{ invoke, timeoutMs: 50, maxRetries: 0 }] })
      gear.call('x').catch(({ code }) => console.log(code))`)
    expect(told).toBe('ERR_ATTEMPT_TIMEOUT')
  })

  it('is not kept by an open circuit', async () => {
    const told = await play(`
      const breaker = createBreaker({ threshold: 1, cooldownMs: 600_000 })
      breaker.execute(() => Promise.reject(new Error('x'))).catch(() => console.log(breaker.state))`)
    expect(told).toBe('open')
  })
})
