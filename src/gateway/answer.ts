import type { Call } from './call.ts'
import { ClientStream } from './sse/client-stream.ts'
import type { Desk } from './desk.ts'
import { errorEvent } from './error-body.ts'
import { send } from './send.ts'

// for a slow reader one part more is read this often: its provider is not to be taken for lost
const PATIENCE_MS = 5000
// as other servers do it: who takes nothing for so long has gone
const STALLED_MS = 60_000

/** Answers in one piece. */
export async function answerWhole({ gear, calls }: Desk, call: Call): Promise<void> {
  const { request, response, options } = call
  try {
    const { body, headers } = await gear.call(request, options)
    send(response, { status: 200, headers: [...headers, ...call.headers], body }, calls.areLast)
  } catch (error) {
    if (!call.hasLeft) send(response, call.failed(error), calls.areLast)
  }
}

/**
 * Answers in parts. The status is decided when the first content is there, or when the client has waited too long for
 * it: a failure before is an ordinary error, afterwards it is an event.
 */
export async function answerInParts(desk: Desk, call: Call): Promise<void> {
  const { request, response } = call
  const { clock, rules } = desk
  const stream = new ClientStream(response, request.id, { clock, keepAlive: rules.keepAlive })
  try {
    await pass(desk, call, stream)
    stream.end()
  } catch (error) {
    stream.close()
    if (call.hasLeft) return void response.destroy()
    if (stream.isOpen) stream.end(errorEvent(error, request, stream.last))
    else send(response, call.failed(error), desk.calls.areLast)
  }
}

async function pass({ gear }: Desk, call: Call, stream: ClientStream): Promise<void> {
  const { request, options, hangup } = call
  const parts = gear.stream(request, options)
  let stalledMs = 0
  for (let part = await parts.next(); part.done !== true; part = await parts.next()) {
    if (!stream.isOpen) stream.open([...request.answerHeaders, ...call.headers])
    if (stream.write(part.value.bytes) || (await stream.drained(PATIENCE_MS, hangup))) stalledMs = 0
    else if ((stalledMs += PATIENCE_MS) >= STALLED_MS) call.leave()
  }
}
