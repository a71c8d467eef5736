import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/notifier.ts'
import { parseConfig } from '../../src/gateway/config/read-config.ts'
import { startService } from '../../src/gateway/service.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'record-gateway-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

async function serve(record: string, models: readonly string[]): Promise<void> {
  await using provider = await startScriptedProvider()
  const text = `server: {port: 0}\n${record}\ntargets: [{name: openai, baseUrl: "${provider.baseURL}", maxRetries: 0, circuitBreaker: {threshold: 2}}]\n`
  const read = () => parseConfig(text, 'gateway.yaml', {})
  await using gateway = await startService({ file: join(dir, 'gateway.yaml'), read, logger: silentLogger })
  for (const model of models) {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'my secret question' }] })
    const headers = { 'content-type': 'application/json' }
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
  }
}

describe('the gateway', () => {
  it('records what every request came to, and nothing of what was said', async () => {
    await serve('record: {file: calls.jsonl}', ['ok', '503', '503', 'ok'])
    const text = readFileSync(join(dir, 'calls.jsonl'), 'utf8')
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(rows.flatMap(({ outcome, kind }) => (outcome === undefined ? [] : [[outcome, kind]]))).toEqual([
      ['success', undefined],
      ['failure', 'server_error'],
      ['failure', 'server_error'],
      ['refused', undefined],
    ])
    expect(rows).toContainEqual(expect.objectContaining({ circuit: 'openai', from: 'closed', to: 'open' }))
    expect(text).not.toContain('secret')
  })

  it('records nothing unless it is told to', async () => {
    await serve('', ['ok'])
    expect(existsSync(join(dir, 'outcomes.jsonl'))).toBe(false)
  })
})
