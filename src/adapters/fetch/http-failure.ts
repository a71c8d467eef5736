import { TimeLimit } from '../../core/limits.ts'
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
  declare readonly headers: Headers
  declare readonly body: string

  constructor({ status, headers }: Response, body: string) {
    super(`HTTP ${status}`)
    this.status = status
    // they may hold a cookie or quote the prompt, so they do not show where the error is printed
    Object.defineProperties(this, { headers: { value: headers }, body: { value: body } })
  }

  override get name(): string {
    return 'HttpFailure'
  }
}

/** The beginning of an error's body; the caller still gets all of it. Rejects when the visit is cut. */
export async function peekText(
  source: Source,
  visit: Visit,
  around: Around,
): Promise<{ readonly text: string; readonly complete: boolean }> {
  const over = Promise.withResolvers<void>()
  const patience = new TimeLimit(over.resolve)
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  around.limits.of(PATIENCE_MS)?.begin(patience, around.clock.now())
  try {
    while (bytes < MOST_BYTES) {
      const chunk = await visit.wait(Promise.race([source.peek(), over.promise]))
      if (chunk?.value === undefined || chunk.done) return { text, complete: chunk?.done === true }
      bytes += chunk.value.byteLength
      text += decoder.decode(chunk.value, { stream: true })
    }
  } catch (error) {
    if (visit.isCut) {
      void source.cancel(error)
      throw error
    }
    // the status is known all the same
  } finally {
    patience.end()
  }
  return { text, complete: false }
}
