import type { IncomingHttpHeaders } from 'node:http'

import { ClientFault } from './client-fault.ts'

/** What a client asks of the gateway itself, in headers. */
export interface Wishes {
  /** The one target to ask; nobody else is. */
  readonly target: string | undefined
  /** Asks it even where its circuit refuses. */
  readonly bypass: boolean
  /** Once somebody was asked, nobody else is. */
  readonly noFallback: boolean
  /** What takes the place of the providers. */
  readonly mock: string | undefined
}

const NONE: Wishes = { target: undefined, bypass: false, noFallback: false, mock: undefined }

/** @throws ClientFault for a value that means nothing, or a bypass of nothing */
export function wishesOf(headers: IncomingHttpHeaders): Wishes {
  const target = headers['x-switchgear-target']
  const bypass = headers['x-switchgear-bypass']
  const noFallback = headers['x-switchgear-no-fallback']
  const mock = headers['x-switchgear-mock']
  if (target === undefined && bypass === undefined && noFallback === undefined && mock === undefined)
    return NONE
  const wishes = {
    target: textOf('x-switchgear-target', target),
    bypass: flagOf('x-switchgear-bypass', bypass),
    noFallback: flagOf('x-switchgear-no-fallback', noFallback),
    mock: textOf('x-switchgear-mock', mock),
  }
  if (wishes.bypass && wishes.target === undefined) {
    throw fault('x-switchgear-bypass', 'x-switchgear-bypass works only beside x-switchgear-target.')
  }
  return wishes
}

function textOf(name: string, value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw fault(name, `${name} is empty; leave it out or give a name.`)
}

function flagOf(name: string, value: string | string[] | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw fault(name, `${name} must be true or false.`)
}

const fault = (param: string, message: string) => new ClientFault(message, { param })
