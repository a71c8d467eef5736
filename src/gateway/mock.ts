import { setTimeout as delay } from 'node:timers/promises'

import type { Dispatcher } from 'undici'

import { didYouMean } from '../core/validate.ts'
import { endpointShapes } from '../testing/endpoint-shapes.ts'
import type { EndpointShape } from '../testing/endpoint-shapes.ts'
import { faultTable, findFault, outageScripts } from '../testing/faults.ts'
import type { Script } from '../testing/script.ts'
import type { CallRequest } from './call-request.ts'
import { ClientFault } from './client-fault.ts'

type Mocked = Pick<Dispatcher, 'dispatch'>

// beside the table: what a mock can be in one word of the failure kinds
const ALIASES: Readonly<Record<string, string>> = { timeout: 'hang' }
const NETWORK = 'network'
const KEEP_ALIVE_MS = 1000

/**
 * Plays providers without a network: `429, 503` = the first target that is asked answers 429, the second 503, all
 * others as if nothing were wrong. The words are the faults of the scripted provider, and `timeout` and `network`.
 *
 * @throws ClientFault for a word that is none
 */
export function mockOf(wish: string, { endpoint, model, stream }: CallRequest): (target: string) => Mocked {
  const words = wish.split(',').map((word) => word.trim())
  for (const word of words) check(word)
  const shape: EndpointShape = endpointShapes[endpoint.name]
  const asked: string[] = []
  return (target) => {
    if (!asked.includes(target)) asked.push(target)
    const word = words[asked.indexOf(target)] ?? 'ok'
    const found = findFault(ALIASES[word] ?? word)
    const ask = { number: 1, model: model ?? 'mock', stream, includeUsage: true, provider: target }
    const scene = { ask, shape: shape.reply, toolCall: shape.toolCall }
    const script =
      word === NETWORK || found === undefined
        ? outageScripts.refuse
        : found.fault.script({ ...scene, parameter: found.parameter, random: () => 0 })
    return { dispatch: (_options, handler) => play(shape.dress(script), handler) }
  }
}

function check(word: string): void {
  if (word === NETWORK || Object.hasOwn(ALIASES, word) || findFault(word) !== undefined) return
  const known = [...faultTable.map(({ name }) => name), ...Object.keys(ALIASES), NETWORK]
  throw new ClientFault(
    `x-switchgear-mock: there is no mock '${word.slice(0, 50)}'. ${didYouMean(word.slice(0, 50), known)}`,
    {
      param: 'x-switchgear-mock',
    },
  )
}

/** What undici hands to a handler, without a connection. */
class MockController implements Dispatcher.DispatchController {
  readonly #gone = new AbortController()
  #paused: PromiseWithResolvers<void> | undefined
  readonly rawHeaders = null
  readonly rawTrailers = null

  get signal(): AbortSignal {
    return this.#gone.signal
  }
  get aborted(): boolean {
    return this.#gone.signal.aborted
  }
  get reason(): Error | null {
    return this.aborted ? (this.#gone.signal.reason as Error) : null
  }
  get paused(): boolean {
    return this.#paused !== undefined
  }
  abort(reason: Error): void {
    this.#gone.abort(reason)
  }
  pause(): void {
    this.#paused ??= Promise.withResolvers()
  }
  resume(): void {
    this.#paused?.resolve()
    this.#paused = undefined
  }
  async wait(ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal: this.signal })
    await this.#paused?.promise
  }
}

function play(script: Script, handler: Dispatcher.DispatchHandler): boolean {
  const controller = new MockController()
  handler.onRequestStart?.(controller, {})
  // whoever cut it off is told nothing more
  playParts(script, controller, handler).catch(() => {})
  return true
}

async function playParts(
  { waitMs = 0, gapMs = 0, head, parts, ending, keepAlive = '\n' }: Script,
  controller: MockController,
  handler: Dispatcher.DispatchHandler,
): Promise<void> {
  await controller.wait(waitMs)
  if (head !== undefined) handler.onResponseStart?.(controller, head.status, head.headers, '')
  for (const [index, part] of parts.entries()) {
    await controller.wait(index === 0 ? 0 : gapMs)
    if (controller.aborted) return
    handler.onResponseData?.(controller, Buffer.from(part))
  }
  if (ending === 'keep-alive') return sendForEver(controller, handler, keepAlive)
  if (controller.aborted || ending === 'hang') return
  if (ending === 'end') return handler.onResponseEnd?.(controller, {})
  const code = head === undefined ? 'ECONNREFUSED' : 'UND_ERR_SOCKET'
  handler.onResponseError?.(controller, Object.assign(new Error('The mock has hung up.'), { code }))
}

/** Until somebody cuts it off. */
async function sendForEver(
  controller: MockController,
  handler: Dispatcher.DispatchHandler,
  text: string,
): Promise<void> {
  for (;;) {
    handler.onResponseData?.(controller, Buffer.from(text))
    await controller.wait(KEEP_ALIVE_MS)
  }
}
