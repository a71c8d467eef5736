import { setTimeout as delay } from 'node:timers/promises'

import type { Dispatcher } from 'undici'

import type { Demand } from './demand.ts'
import { dataOf, dialects } from './dialects.ts'
import type { Dialect, Json } from './dialects.ts'

/** What became of a request, as its client saw it. `broken` = neither an answer nor an error: what must never be. */
export interface Fate {
  readonly kind: 'complete' | 'error' | 'left' | 'broken'
  /** The gateway began a call; it turned the others away by itself. */
  readonly called: boolean
  /** Complete, without what comes behind the end. */
  readonly curtailed?: boolean
  /** Of a broken one: what was seen, in words. */
  readonly told?: string
}

// longer than all limits of the gateway together
const SILENCE_MS = 30_000
// what every scripted provider answers
const TEXT = /^(?:Hello from \w+, model [\w-]+\.|\{"city":"Paris"\})$/

const broken = (told: string): Fate => ({ kind: 'broken', called: true, told })

/** Asks, reads, and perhaps leaves. */
export async function askAs(demand: Demand, agent: Dispatcher, origin: string): Promise<Fate> {
  const { dialect: name, model, stream, leaves } = demand
  const dialect: Dialect = dialects[name]
  const patience = new AbortController()
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const signal = leaving.signal
  if (typeof leaves === 'number')
    void delay(leaves, undefined, { signal: patience.signal }).then(leave, () => {})
  const silent = delay(SILENCE_MS, 'silent' as const, { signal: patience.signal }).catch(
    () => 'silent' as const,
  )
  try {
    const fate = await Promise.race([exchange(demand, dialect, agent, origin, signal, leave), silent])
    if (fate !== 'silent') return fate
    leave()
    return broken(`${name} ${model}: nothing for ${SILENCE_MS} ms`)
  } catch (error) {
    if (signal.aborted) return { kind: 'left', called: true }
    return broken(`${name} ${model} ${stream ? 'stream' : 'json'}: ${String(error)}`)
  } finally {
    patience.abort()
  }
}

async function exchange(
  { model, stream, headers, broken: isBroken, leaves }: Demand,
  dialect: Dialect,
  agent: Dispatcher,
  origin: string,
  signal: AbortSignal,
  leave: () => void,
): Promise<Fate> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] })
  const {
    statusCode,
    headers: told,
    body: answer,
  } = await agent.request({
    origin,
    path: dialect.path,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: isBroken ? body.slice(0, -1) : body,
    signal,
  })
  let text = ''
  for await (const bytes of answer.setEncoding('utf8')) {
    text += bytes
    if (leaves === 'first byte') leave()
  }
  const called = told['x-switchgear-call'] !== undefined
  const isStream = String(told['content-type']).startsWith('text/event-stream')
  const wrong = isStream ? wrongInStream(text, dialect) : wrongInBody(statusCode, text, dialect)
  // what comes behind the end completes nothing: a provider that is slow to send it loses it
  const curtailed = isStream && dialect.last !== undefined && dataOf(text).at(-1) !== dialect.last
  if (wrong === undefined) return { kind: 'complete', called, curtailed }
  if (wrong === 'error') return { kind: 'error', called }
  return broken(
    `${dialect.path} ${model} ${stream ? 'stream' : 'json'}, status ${statusCode}: ${wrong}: ${text}`,
  )
}

type Wrong = 'error' | string | undefined

function wrongInBody(status: number, text: string, { whole }: Dialect): Wrong {
  const body = parse(text)
  if (status >= 400) return body === undefined ? 'an error that is no JSON' : 'error'
  if (status !== 200) return 'an odd status'
  if (body === undefined) return 'no JSON'
  return TEXT.test(String(whole(body))) ? undefined : 'not the text of one provider'
}

function wrongInStream(text: string, { part, isEnd, last }: Dialect): Wrong {
  if (!text.endsWith('\n\n')) return 'an event without its end'
  const data = dataOf(text)
  if (data.at(-1) === last) data.pop()
  const events = data.map(parse)
  const end = events.at(-1)
  if (events.includes(undefined)) return 'an event that is no JSON'
  if (isError(end)) return 'error'
  if (!events.some((event) => isEnd(event!))) return 'a clean end that is none'
  return TEXT.test(events.map((event) => part(event!) ?? '').join(''))
    ? undefined
    : 'not the text of one provider'
}

const isError = (event: Json | undefined) => event?.['error'] !== undefined && event['error'] !== null

function parse(text: string | undefined): Json | undefined {
  try {
    return JSON.parse(text ?? '') as Json
  } catch {
    return undefined
  }
}
