import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import type { ActorFeed } from './actor-feed.ts'
import { definitions } from './definitions.ts'
import { placeRefusal, tokenRefusal } from './gatekeeper.ts'
import type { Refused } from './gatekeeper.ts'
import { pageFiles, securityHeaders } from './page-files.ts'
import { Viewer } from './viewer.ts'
import type { Picture } from './wire.ts'

const TICK_MS = 100
const TICKS_OF_SILENCE = 50
const MOST_VIEWERS = 16

interface Around {
  readonly feed: ActorFeed
  readonly clock: Clock
  readonly token: string
  /** Address of the Stately inspector. */
  readonly inspector: string
  readonly onFault: (error: unknown) => void
}

const sseEvent = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`

/** Answers the page, and tells every viewer ten times a second what has happened. Nothing runs while nobody watches. */
export class Relay {
  readonly #around: Around
  readonly #files = pageFiles()
  readonly #headers: Readonly<Record<string, string>>
  readonly #viewers = new Set<Viewer>()
  #timer: unknown
  #silentFor = 0

  constructor(around: Around) {
    this.#around = around
    this.#headers = securityHeaders(around.inspector)
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#answer(request, response)
    } catch (error) {
      this.#around.onFault(error)
      response.destroy()
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = '', url = '' } = request
    const path = url.split('?', 1)[0] ?? ''
    const refusal = placeRefusal(headers) ?? methodRefusal(method)
    if (refusal !== undefined) return this.#refuse(response, refusal)
    if (path === '/feed') return this.#watch(request, response)
    const file = this.#files.get(path)
    if (file === undefined) return this.#refuse(response, { status: 404, why: 'There is no such page here.' })
    response.writeHead(file.status, { ...this.#headers, 'content-type': file.type })
    response.end(method === 'HEAD' ? undefined : file.body)
  }

  /** Ends every feed. */
  close(): void {
    for (const viewer of this.#viewers) {
      this.#leave(viewer)
      viewer.drop()
    }
  }

  #refuse(response: ServerResponse, { status, why }: Refused): void {
    response.writeHead(status, { ...this.#headers, 'content-type': 'text/plain; charset=utf-8' })
    response.end(`${why}\n`)
  }

  #watch({ headers, method }: IncomingMessage, response: ServerResponse): void {
    const refusal = tokenRefusal(headers, this.#around.token) ?? this.#fullRefusal()
    if (refusal !== undefined) return this.#refuse(response, refusal)
    response.writeHead(200, { ...this.#headers, 'content-type': 'text/event-stream' })
    if (method === 'HEAD') return void response.end()
    const { feed, clock } = this.#around
    // the others have had what the picture of the new one contains
    this.#tell()
    if (!feed.isOpen) feed.open()
    const viewer = new Viewer(response)
    this.#viewers.add(viewer)
    response.once('close', () => this.#leave(viewer))
    viewer.send(this.#picture(0), 0)
    this.#timer ??= clock.setTimeout(this.#tick, TICK_MS)
  }

  #fullRefusal(): Refused | undefined {
    if (this.#viewers.size < MOST_VIEWERS) return undefined
    return { status: 503, why: `${MOST_VIEWERS} pages watch already. Close one.` }
  }

  #leave(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer) || this.#viewers.size > 0) return
    const { feed, clock } = this.#around
    clock.clearTimeout(this.#timer)
    this.#timer = undefined
    feed.shut()
  }

  readonly #tick = (): void => {
    const { clock } = this.#around
    this.#timer = clock.setTimeout(this.#tick, TICK_MS)
    try {
      // before anything is written: what was just written nobody has read
      this.#weed(clock.now())
      this.#tell()
      for (const viewer of this.#viewers) viewer.catchUp((missed) => this.#picture(missed))
    } catch (error) {
      // whoever looks on takes nobody down
      this.#around.onFault(error)
    }
  }

  #weed(now: number): void {
    for (const viewer of this.#viewers) {
      if (!viewer.isLost(now)) continue
      this.#leave(viewer)
      viewer.drop()
    }
  }

  #tell(): void {
    const news = this.#around.feed.news()
    const isDue = ++this.#silentFor >= TICKS_OF_SILENCE
    if (news === undefined && !isDue) return
    this.#silentFor = 0
    const text = news === undefined ? ':\n\n' : sseEvent('news', JSON.stringify(news))
    const events = news === undefined ? 0 : news.rows.length + news.dropped
    for (const viewer of this.#viewers) viewer.send(text, events)
  }

  #picture(missed: number): string {
    const { feed, inspector } = this.#around
    const picture: Picture = { inspector, definitions, ...feed.picture(), missed }
    return sseEvent('picture', JSON.stringify(picture))
  }
}

function methodRefusal(method: string): Refused | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  return { status: 405, why: 'Here is nothing but to be read: GET or HEAD.' }
}
