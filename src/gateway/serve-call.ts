import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

import { answerInParts, answerWhole } from './answer.ts'
import { Call } from './call.ts'
import { CallRequest } from './call-request.ts'
import { ClientFault } from './client-fault.ts'
import type { Desk } from './desk.ts'
import type { Endpoint } from './endpoints.ts'
import { factsReply } from './error-body.ts'
import { headersToUpstream } from './headers.ts'
import { mockOf } from './mock.ts'
import { send } from './send.ts'
import { wishesOf } from './wishes.ts'

const DRAINING = {
  status: 503,
  code: 'ERR_CLOSED',
  message: 'The gateway is shutting down; send the request again.',
}
const BROKEN = { status: 500, code: 'internal_error', message: 'The gateway failed.' }

/** Serves one call from its body to its end. Never throws. */
export function serveCall(
  desk: Desk,
  endpoint: Endpoint,
  headers: IncomingHttpHeaders,
  body: Buffer,
  response: ServerResponse,
): void {
  if (desk.calls.areLast) {
    return send(response, factsReply(DRAINING, endpoint.errors, ['retry-after', '1']), true)
  }
  let call: Call
  try {
    call = begin(desk, endpoint, headers, body, response)
  } catch (error) {
    if (!(error instanceof ClientFault)) tellFault(desk, error)
    return send(response, factsReply(error instanceof ClientFault ? error : BROKEN, endpoint.errors))
  }
  desk.calls.add(call)
  const answered = call.request.stream ? answerInParts(desk, call) : answerWhole(desk, call)
  answered.catch((error: unknown) => {
    tellFault(desk, error)
    response.destroy()
  })
}

/** A fault of the gateway costs this call, not all the others. */
function tellFault({ logger }: Desk, error: unknown): void {
  logger.error({ err: error }, 'a call failed in the gateway itself')
}

function begin(
  { rules }: Desk,
  endpoint: Endpoint,
  headers: IncomingHttpHeaders,
  body: Buffer,
  response: ServerResponse,
): Call {
  const request = new CallRequest(randomUUID(), endpoint, body, headersToUpstream(headers))
  const wishes = wishesOf(headers)
  if (wishes.mock !== undefined) {
    if (!rules.config.server.allowMocks) {
      throw new ClientFault('x-switchgear-mock is not allowed here: server.allowMocks is false.', {
        param: 'x-switchgear-mock',
      })
    }
    request.mock = mockOf(wishes.mock, request)
  }
  return new Call(request, response, rules.router.route(request, wishes), wishes)
}
