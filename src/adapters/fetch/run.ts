import { SwitchgearError } from '../../core/errors.ts'
import { asksModel } from './ask.ts'
import type { Ask } from './ask.ts'
import { HttpFailure, peekText } from './http-failure.ts'
import { JsonWatch } from './json-watch.ts'
import type { Around, FetchLike } from './options.ts'
import { Source } from './source.ts'
import { SseWatch } from './sse-watch.ts'
import type { Visit } from './visit.ts'
import { noWatch } from './watch.ts'
import type { Watch } from './watch.ts'
import { watchedResponse } from './watched-response.ts'

const INIT_MEMBERS = [
  ...['method', 'headers', 'body', 'duplex', 'mode', 'credentials', 'cache', 'redirect'],
  ...['referrer', 'referrerPolicy', 'integrity', 'keepalive'],
]

/** Sends an admitted request and settles its visit, at the headers or with the body. */
export async function run(send: FetchLike, ask: Ask, visit: Visit, around: Around): Promise<Response> {
  let answer: Promise<Response> | undefined
  try {
    answer = send(ask.input, withSignal(ask.init, visit.signal))
    const response = await visit.wait(answer)
    visit.headersCame()
    return await watch(response, ask, visit, around)
  } catch (error) {
    visit.fail(error)
    visit.finish()
    // a fetch that did not listen to its signal may still answer
    if (visit.isCut) answer?.then((late) => late.body?.cancel()).catch(() => {})
    throw error
  }
}

/** A Request may stand for its own options (WHATWG fetch); what it says stands in getters that no copy takes along. */
function withSignal(init: RequestInit | undefined, signal: AbortSignal): RequestInit {
  if (!(init instanceof Request)) return { ...init, signal }
  const said = INIT_MEMBERS.map((member) => [member, init[member as keyof Request]] as const)
  return { ...Object.fromEntries(said.filter(([, value]) => value !== undefined && value !== null)), signal }
}

/** Judges what the headers tell, and has the body watched for the rest. */
async function watch(response: Response, ask: Ask, visit: Visit, around: Around): Promise<Response> {
  // another implementation of fetch may have another kind of body
  const readable = typeof response.body?.getReader === 'function'
  if (response.status >= 400) return judgeError(response, readable, visit, around)
  const watch = readable ? watchOf(response, ask, visit) : undefined
  if (watch === undefined && !visit.settled) visit.succeed()
  // the body is wrapped to watch it, or to know until when the caller's abort concerns it
  if (readable && (watch !== undefined || ask.signal !== undefined)) {
    return watchedResponse(response, new Source(response), visit, watch ?? noWatch)
  }
  visit.finish()
  return response
}

async function judgeError(
  response: Response,
  readable: boolean,
  visit: Visit,
  around: Around,
): Promise<Response> {
  const source = new Source(response)
  const { text, complete } = readable ? await peekText(source, visit, around) : { text: '', complete: true }
  visit.fail(new HttpFailure(response, text))
  if (complete) visit.finish()
  return readable ? watchedResponse(response, source, visit, noWatch) : response
}

/** Undefined where the headers are all that tells. */
function watchOf(response: Response, ask: Ask, visit: Visit): Watch | undefined {
  if (visit.settled || !response.ok || ask.method !== 'POST') return undefined
  const type = response.headers.get('content-type')?.toLowerCase() ?? ''
  const known = asksModel(ask)
  if (type.startsWith('text/event-stream')) return new SseWatch(visit, known)
  if (/^application\/(?:[^;]*\+)?json\b/.test(type)) return new JsonWatch(visit, known)
  if (known && type.startsWith('text/html')) {
    const { bucket: target, model } = visit.place
    const text = `'${target}' answered with a web page.`
    visit.failAs('malformed_response', new SwitchgearError('ERR_EMPTY_RESPONSE', text, { target, model }))
  }
  return undefined
}
