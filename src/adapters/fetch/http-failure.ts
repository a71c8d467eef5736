import { Limited } from '../../core/limits.ts'
import type { Around } from './options.ts'
import type { Source } from './source.ts'
import type { Visit } from './visit.ts'

/** How much of an error's body is read before the caller gets it. */
const MOST_BYTES = 65_536
/** How long the rest of an error's body is waited for, in ms. */
const PATIENCE_MS = 1000

/** An answer that is an error, as the classifier and `shouldCount` see it. */
export class HttpFailure extends Error {
  readonly status: number
  readonly headers: Headers
  declare readonly body: string

  constructor({ status, headers }: Response, body: string) {
    super(`HTTP ${status}`)
    this.status = status
    this.headers = headers
    // a provider's text may quote the prompt, so it does not show where the error is printed
    Object.defineProperty(this, 'body', { value: body })
  }

  override get name(): string {
    return 'HttpFailure'
  }
}

class Patience extends Limited {
  readonly #over: () => void
  constructor(over: () => void) {
    super()
    this.#over = over
  }
  override expire(): void {
    this.#over()
  }
}

/** The beginning of an error's body, as text; the caller still gets all of it. Rejects when the visit is cut. */
export async function peekText(source: Source, visit: Visit, around: Around): Promise<string> {
  const over = Promise.withResolvers<void>()
  const patience = new Patience(over.resolve)
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  around.limits.of(PATIENCE_MS)?.add(patience, around.clock.now())
  try {
    while (bytes < MOST_BYTES) {
      const chunk = await visit.wait(Promise.race([source.peek(), over.promise]))
      if (chunk?.value === undefined || chunk.done) return text
      bytes += chunk.value.byteLength
      text += decoder.decode(chunk.value, { stream: true })
    }
  } catch (error) {
    if (visit.isCut) throw error
    // the status is known all the same
  } finally {
    patience.queue?.remove(patience)
  }
  return text
}
