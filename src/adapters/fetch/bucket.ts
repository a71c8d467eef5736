import { isRequest } from './ask.ts'
import type { Ask } from './ask.ts'
import type { Around } from './options.ts'

/** Which breaker a request belongs to. */
export interface Place {
  readonly bucket: string
  /** Read only where it matters to the bucket. */
  readonly model: string | undefined
}

/** Names the breaker of a request. Never throws: a `bucket` that does is logged, and the default stands in. */
export async function placeOf(ask: Ask, url: URL, around: Around): Promise<Place> {
  const { bucket, rules, notifier } = around
  const wanted = bucket !== undefined || rules.isolateByModel
  const model = wanted ? (modelInPath(url.pathname) ?? modelInJson(await bodyOf(ask))) : undefined
  const name = bucket && notifier.ask('bucket', () => bucket(url, model))
  if (typeof name === 'string' && name !== '' && name !== '__proto__') return { bucket: name, model }
  return { bucket: rules.isolateByModel && model !== undefined ? `${url.host}/${model}` : url.host, model }
}

/** `/models/<model>:generateContent` of Google, `/deployments/<name>/` of Azure, `/model/<id>/` of Bedrock. */
function modelInPath(path: string): string | undefined {
  const found = /\/models\/([^/:]+):|\/deployments\/([^/]+)\/|\/model\/([^/]+)\//.exec(path)
  const model = found?.[1] ?? found?.[2] ?? found?.[3]
  try {
    return model === undefined ? undefined : decodeURIComponent(model)
  } catch {
    return model
  }
}

function modelInJson(body: string | undefined): string | undefined {
  if (body === undefined || !body.trimStart().startsWith('{')) return undefined
  try {
    const { model } = JSON.parse(body) as { model?: unknown }
    return typeof model === 'string' && model !== '' ? model : undefined
  } catch {
    return undefined
  }
}

async function bodyOf({ input, init }: Ask): Promise<string | undefined> {
  if (init?.body !== undefined && init.body !== null) {
    return typeof init.body === 'string' ? init.body : undefined
  }
  if (!isRequest(input) || input.headers.get('content-type')?.includes('json') !== true) return undefined
  try {
    return await input.clone().text()
  } catch {
    return undefined
  }
}
