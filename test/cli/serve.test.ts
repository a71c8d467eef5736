import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, until } from '../gateway/support.ts'

const root = join(import.meta.dirname, '../..')

let provider: ScriptedProvider
let directory: string

beforeAll(async () => {
  provider = await startScriptedProvider({ name: 'p' })
  directory = mkdtempSync(join(tmpdir(), 'switchgear-serve-'))
})
afterAll(async () => {
  await provider.close()
  rmSync(directory, { recursive: true })
})
beforeEach(() => provider.reset())

/** A gateway in a process of its own. */
async function serve(lines: readonly string[] = []) {
  const file = join(directory, 'gateway.yaml')
  const write = (more: readonly string[]) =>
    writeFileSync(
      file,
      [
        'server: { port: 0, drainMs: 20000 }',
        `targets: [{ name: p, baseUrl: "${provider.baseURL}" }]`,
        ...more,
      ].join('\n'),
    )
  write(['journal: false', ...lines])
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'serve', '--config', file], {
    cwd: root,
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (err += data))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const says = async (what: RegExp) => {
    for (let i = 0; i < 1000 && !what.test(out + err); i++)
      await new Promise((resolve) => setTimeout(resolve, 20))
    return out + err
  }
  const url = /http:\S+(?=\/v1)/.exec(await says(/listens on/))?.[0] ?? ''
  return { child, ended, says, url, write, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

describe('serve', () => {
  it('reads its file anew at SIGHUP; a broken one changes nothing', async () => {
    using server = await serve()
    server.write(['journal: false', 'models: { smart: [p] }'])
    server.child.kill('SIGHUP')
    expect(await server.says(/was read/)).toContain('smart')
    expect((await ask(server, { model: 'ok' })).status).toBe(404)
    expect((await ask(server, { model: 'smart' })).status).toBe(200)

    server.write(['journal: false', 'modells: {}'])
    server.child.kill('SIGHUP')
    expect(await server.says(/is refused/)).toContain("modells: unknown key. Did you mean 'models'?")
    expect((await ask(server, { model: 'smart' })).status).toBe(200)
  })

  it('lets a stream end at SIGTERM, takes no new call meanwhile, and says so', async () => {
    using server = await serve()
    const stream = await ask(server, { model: 'drip-150', stream: true })
    server.child.kill('SIGTERM')
    expect(await server.says(/no new calls/)).toContain('SIGTERM: no new calls are taken')
    const refused = await ask(server)
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close'])
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
    expect(await stream.text()).toContain('data: [DONE]')
    expect(await server.ended).toBe(0)
  })

  it('ends at once at a second signal', async () => {
    using server = await serve()
    const hanging = ask(server, { model: 'hang' }).catch((error: unknown) => error)
    await until(() => provider.requests.length === 1)
    server.child.kill('SIGTERM')
    await server.says(/no new calls/)
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(1)
    expect(await hanging).toBeInstanceOf(Error)
  })
})
