import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** What to do with one response, start to end. */
export interface Script {
  /** Silence before the status line, in ms. Default 0. */
  readonly waitMs?: number
  /** Left out: not even a status line is sent. */
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  readonly parts: readonly string[]
  /** Silence between two parts, in ms. Default 0. */
  readonly gapMs?: number
  /**
   * `end` closes cleanly, `cut` destroys the socket, `hang` sends nothing more,
   * `keep-alive` sends the keep-alive text for ever.
   */
  readonly ending: 'end' | 'cut' | 'hang' | 'keep-alive'
  readonly keepAlive?: string
  /** Whether this is the answer the client asked for. */
  readonly healthy: boolean
}

/** What became of a response that the script has finished with. */
export type ScriptEnd = 'answered' | 'failed'

/**
 * Plays a script on a response; resolves when nothing is left to do, also when the client has gone.
 * `onEnd` is called before the client can see the end, and never when the client left first.
 */
export async function playScript(
  script: Script,
  response: ServerResponse,
  options: { readonly keepAliveMs: number; readonly onEnd: (end: ScriptEnd) => void },
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    await pause(script.waitMs, gone.signal)
    if (script.head !== undefined) {
      response.writeHead(script.head.status, { ...script.head.headers, ...contentLength(script) })
      response.flushHeaders()
    }
    for (const [index, part] of script.parts.entries()) {
      if (index > 0) await pause(script.gapMs, gone.signal)
      response.write(part)
    }
    if (script.ending === 'hang') return
    while (script.ending === 'keep-alive') {
      response.write(script.keepAlive ?? '\n')
      await delay(options.keepAliveMs, undefined, { signal: gone.signal })
    }
    options.onEnd(script.healthy ? 'answered' : 'failed')
    if (script.ending === 'end') response.end()
    else if (script.head === undefined) response.socket?.resetAndDestroy()
    // A reset could overtake the content that the client has not read yet.
    else response.socket?.destroySoon()
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}

async function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (ms !== undefined && ms > 0) await delay(ms, undefined, { signal })
}

function contentLength({ ending, parts, head }: Script): Record<string, string> {
  const streamed = head?.headers['content-type']?.startsWith('text/event-stream') ?? false
  return ending === 'end' && !streamed ? { 'content-length': String(Buffer.byteLength(parts.join(''))) } : {}
}
