import { NEUTRAL } from '../../core/execute.ts'
import type { ReadResult, Source } from './source.ts'
import type { Visit } from './visit.ts'
import type { Watch } from './watch.ts'

const forgotten = new FinalizationRegistry<Visit>((visit) => visit.abandon())

/** The body as the sender sent it, chunk by chunk and only when asked for, under the eyes of `watch`. */
function watchedBody(source: Source, visit: Visit, watch: Watch): ReadableStream<Uint8Array> {
  const finish = () => {
    forgotten.unregister(visit)
    visit.finish()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let chunk: ReadResult
        try {
          chunk = await visit.read(source.next())
        } catch (error) {
          visit.fail(error)
          finish()
          controller.error(error)
          return source.cancel(error)
        }
        if (chunk.value === undefined || chunk.done) {
          const incomplete = visit.settled ? watch.broken : watch.end()
          finish()
          return incomplete === undefined ? controller.close() : controller.error(incomplete)
        }
        if (!visit.settled) watch.push(chunk.value)
        controller.enqueue(chunk.value)
      },
      cancel(reason) {
        visit.settle(NEUTRAL)
        finish()
        return source.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  forgotten.register(body, visit, visit)
  return body
}

/** The response with a watched body. */
export function watchedResponse(response: Response, source: Source, visit: Visit, watch: Watch): Response {
  const body = watchedBody(source, visit, watch)
  return likeness(new Response(body, { headers: response.headers }), response)
}

// what a constructor refuses, a provider may have sent all the same: a status of 600, a reason in Chinese
const KEPT = ['status', 'statusText', 'ok', 'url', 'redirected', 'type'] as const

/** Makes a response of our own say what only fetch can say of one. */
export function likeness(
  response: Response,
  original: Partial<Pick<Response, (typeof KEPT)[number]>>,
): Response {
  const clone = () => likeness(Response.prototype.clone.call(response), original)
  const kept = KEPT.filter((key) => key in original).map(
    (key) => [key, { value: original[key], configurable: true }] as const,
  )
  return Object.defineProperties(response, {
    ...Object.fromEntries(kept),
    clone: { value: clone, configurable: true },
  })
}
