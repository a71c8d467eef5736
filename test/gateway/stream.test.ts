import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, chunk, messages, sseHead, startGateway, startUpstream, until } from './support.ts'

let primary: ScriptedProvider
let backup: ScriptedProvider

beforeAll(async () => {
  primary = await startScriptedProvider({ name: 'primary', keepAliveMs: 20 })
  backup = await startScriptedProvider({ name: 'backup' })
})
afterAll(async () => {
  await primary.close()
  await backup.close()
})
beforeEach(() => {
  primary.reset()
  backup.reset()
})

const two = (rules = {}) =>
  [
    { name: 'primary', baseUrl: primary.baseURL, ...rules },
    { name: 'backup', baseUrl: backup.baseURL, model: 'ok' },
  ] as const

const DONE = 'data: [DONE]\n\n'

describe('an answer in parts', () => {
  it('comes through byte by byte, usage included', async () => {
    await using gateway = await startGateway(two())
    const body = { stream: true, stream_options: { include_usage: true } }
    const answer = await ask(gateway, body)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(answer.headers.get('x-switchgear-target')).toBe('primary')
    const direct = await ask({ url: primary.url }, body)
    const strip = (text: string) => text.replaceAll(/chatcmpl-\d+/g, '')
    const text = await answer.text()
    expect(strip(text)).toBe(strip(await direct.text()))
    expect(text).toContain('"usage":{"prompt_tokens":8')
    expect(text.endsWith(DONE)).toBe(true)
  })

  it('is read by the official client', async () => {
    await using gateway = await startGateway(two())
    primary.setOutage(true)
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'of-the-client', maxRetries: 0 })
    const stream = await client.chat.completions.create({
      model: 'ok',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    })
    let text = ''
    for await (const part of stream) text += part.choices[0]?.delta.content ?? ''
    expect(text).toBe('Hello from backup, model ok.')
  })

  it.each(['stream-error', 'empty', 'hang-content', 'keep-alives', 'cut-json', '503', 'hang'])(
    'that fails before its first content (%s) falls over unseen',
    async (model) => {
      await using gateway = await startGateway(two({ firstContentTimeoutMs: 100 }))
      const answer = await ask(gateway, { model, stream: true })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-switchgear-target')).toBe('backup')
      const text = await answer.text()
      expect(text).toContain('backup')
      expect(text).not.toContain('error')
      expect(text.endsWith(DONE)).toBe(true)
    },
  )

  it('that fails everywhere before its first content ends as an ordinary error', async () => {
    await using gateway = await startGateway([
      { name: 'a', baseUrl: primary.baseURL },
      { name: 'b', baseUrl: backup.baseURL },
    ])
    const answer = await ask(gateway, { model: 'stream-error', stream: true })
    expect(answer.status).toBe(502)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(await answer.json()).toMatchObject({
      error: { code: 'ERR_FALLBACK_EXHAUSTED' },
      switchgear: {
        attempts: [
          { target: 'a', failure: 'server_error' },
          { target: 'b', failure: 'server_error' },
        ],
      },
    })
  })

  it.each(['cut', 'stall', 'stream-error-late', 'no-marker'])(
    'that breaks after its first content (%s) ends with an error event, never with [DONE]',
    async (model) => {
      await using gateway = await startGateway(two({ idleTimeoutMs: 100 }))
      const answer = await ask(gateway, { model, stream: true })
      expect(answer.status).toBe(200)
      const events = (await answer.text()).trimEnd().split('\n\n')
      expect(events.length).toBeGreaterThan(2)
      expect(events).not.toContain('data: [DONE]')
      const last = JSON.parse(events.at(-1)!.slice('data: '.length)) as unknown
      expect(last).toMatchObject({
        error: { code: 'ERR_STREAM_INTERRUPTED', type: 'server_error' },
        switchgear: { call: answer.headers.get('x-switchgear-call'), attempts: [{ target: 'primary' }] },
      })
      expect(backup.requests).toHaveLength(0)
      expect(gateway.gear.getStatus()).toMatchObject({ failureCount: 1 })
    },
  )

  it('that breaks is an error to the official client', async () => {
    await using gateway = await startGateway(two())
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'any', maxRetries: 0 })
    const read = async () => {
      const stream = await client.chat.completions.create({
        model: 'cut',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
      })
      for await (const part of stream) expect(part).toBeDefined()
    }
    await expect(read()).rejects.toThrow('broke after')
  })

  it('is cancelled upstream when the client leaves', async () => {
    await using gateway = await startGateway(two())
    const leaving = new AbortController()
    const answer = await ask(gateway, { model: 'stall', stream: true }, { signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
    await until(() => primary.requests[0]?.outcome === 'aborted-by-client')
    expect(gateway.gear.getStatus()).toMatchObject({ failureCount: 0 })
  })

  it('is cancelled upstream when the client leaves after the finish reason', async () => {
    let gone = false
    await using upstream = await startUpstream((_request, response) => {
      response.once('close', () => (gone = true))
      response.writeHead(200, sseHead)
      response.write(chunk({ content: 'Hi' }) + chunk({}, 'stop'))
    })
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }])
    const leaving = new AbortController()
    const answer = await ask(gateway, { stream: true }, { signal: leaving.signal })
    await answer.body?.getReader().read()
    expect(gone).toBe(false)
    leaving.abort()
    await until(() => gone)
  })

  it('waits for a slow client: the provider is not read faster than the client reads', async () => {
    const block = chunk({ content: 'x'.repeat(64 * 1024) })
    let written = 0
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, sseHead)
      const write = () => {
        while (written < 600 && response.write(block)) written++
        if (written >= 600) response.end(chunk({}, 'stop') + DONE)
        else response.once('drain', () => ((written += 1), write()))
      }
      write()
    })
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl, idleTimeoutMs: 5000 }])
    const answer = await ask(gateway, { stream: true })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(written).toBeLessThan(550)
    const text = await answer.text()
    expect(text.length).toBeGreaterThan(600 * 64 * 1024)
    expect(text.endsWith(DONE)).toBe(true)
  })
})

describe('corners of a stream', () => {
  const streamOf = async (text: string | Buffer[], body: object = {}, rules = {}) => {
    await using upstream = await startUpstream(async (_request, response) => {
      response.writeHead(200, sseHead)
      for (const piece of typeof text === 'string' ? [text] : text) {
        response.write(piece)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      response.end()
    })
    await using gateway = await startGateway(
      [{ name: 'primary', baseUrl: upstream.baseUrl }, two()[1]],
      rules,
    )
    const answer = await ask(gateway, { stream: true, ...body })
    return {
      status: answer.status,
      target: answer.headers.get('x-switchgear-target'),
      text: await answer.text(),
    }
  }

  it('bytes stay as they are wherever they are cut, also with CRLF, comments and letters of several bytes', async () => {
    const text = `: hi\r\n\r\nid: 1\r\n${chunk({ content: 'Grüße 🚀' }).replaceAll('\n', '\r\n')}: ping\n\n${chunk({}, 'stop')}${DONE}`
    const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
    // a comment before the first content is no part of the answer
    expect((await streamOf(pieces)).text).toBe(text.slice(': hi\r\n\r\n'.length))
  })

  it('the whole answer in one event is an answer', async () => {
    const text = chunk({ content: 'Hi' }, 'stop') + DONE
    expect(await streamOf(text)).toEqual({ status: 200, target: 'primary', text })
  })

  it('thinking up to the limit of tokens is an answer without text', async () => {
    const text = chunk({}, 'length') + DONE
    expect(await streamOf(text)).toEqual({ status: 200, target: 'primary', text })
  })

  it('with two choices the first finish reason is not the end', async () => {
    const cut = chunk({ content: 'a' }) + chunk({ content: 'b' }, null, 1) + chunk({}, 'stop', 0)
    const { text } = await streamOf(cut, { n: 2 })
    expect(text).toContain('ERR_STREAM_INTERRUPTED')
    const whole = cut + chunk({}, 'stop', 1) + DONE
    expect((await streamOf(whole, { n: 2 })).text).toBe(whole)
  })

  it('a last event without its blank line still counts', async () => {
    const text = chunk({ content: 'Hi' }) + chunk({}, 'stop').trimEnd()
    expect((await streamOf(text)).text).toBe(text)
  })

  it('a refusal passes through, unless a list says where refusals go', async () => {
    const text = chunk({ refusal: 'I cannot' }) + chunk({}, 'stop') + DONE
    expect(await streamOf(text)).toEqual({ status: 200, target: 'primary', text })
    const rules = { contentPolicyFallbacks: { primary: ['backup'] } }
    expect(await streamOf(text, {}, rules)).toMatchObject({ status: 200, target: 'backup' })
    const filtered = chunk({}, 'content_filter') + DONE
    expect(await streamOf(filtered)).toEqual({ status: 200, target: 'primary', text: filtered })
    expect(await streamOf(filtered, {}, rules)).toMatchObject({ status: 200, target: 'backup' })
  })

  it('an event that is no JSON is an error', async () => {
    expect(await streamOf('data: {"broken\n\n')).toMatchObject({ target: 'backup' })
    expect((await streamOf(`${chunk({ content: 'Hi' })}data: {"broken\n\n`)).text).toContain(
      'ERR_STREAM_INTERRUPTED',
    )
  })

  it('an answer that is no stream is an error', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')
    })
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }, two()[1]])
    expect((await ask(gateway, { stream: true, messages })).headers.get('x-switchgear-target')).toBe('backup')
  })
})
