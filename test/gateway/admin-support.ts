import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Fastify from 'fastify'
import { onTestFinished } from 'vitest'

import type { Explanation } from '../../src/core/explain.ts'
import type { Logger } from '../../src/core/notifier.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'
import type { AdminTarget } from '../../src/gateway/admin/circuit-view.ts'
import type { AdminContext } from '../../src/gateway/admin/context.ts'
import { registerAdmin } from '../../src/gateway/admin/register-admin.ts'
import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import type { CircuitView, GroupView, JournalRowView } from '../../src/gateway/admin/wire.ts'
import { memoryJournal } from '../../src/stores/memory-journal.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** Long enough not to wait for others' guesses. */
export const ALICE = 'alice-0123456789-0123456789-0123456789'
/** Short enough to be guessed. */
export const BOB = 'bob-1234567890123'

export const START = Date.parse('2026-11-30T03:00:00Z')

export class Down extends Error {
  readonly status = 503
}

type Fake = TargetOptions<string, string, string>

/** A target that answers until it is told to be down, and takes as long as it is told. */
export function fakeTarget(name: string, options: Partial<Fake> = {}) {
  const state = { down: false, asked: 0 }
  const target: Fake = {
    name,
    circuitBreaker: { threshold: 2, cooldownMs: 30_000 },
    maxRetries: 0,
    ...options,
    invoke: async (request) => {
      state.asked++
      if (state.down) throw new Down('the provider says <b>sk-secret-key</b>')
      return request
    },
  }
  return { target, state }
}

export interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Record<string, unknown>
  readonly message: string
}

/** A logger that remembers. */
export function remembering(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = []
  const log = (level: Line['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, logger: { info: log('info'), warn: log('warn'), error: log('error') } }
}

/** The admin API on a listening server, over a real switchgear on a clock that stands still. */
export async function startAdmin(targets: readonly Fake[], overrides: Partial<AdminContext> = {}) {
  const clock = new VirtualClock(START)
  const journal = memoryJournal({ clock })
  const gear = createSwitchgear({ targets, clock, journal })
  const { lines, logger } = remembering()
  const tokens = adminTokens({ configured: { alice: ALICE, bob: BOB }, file: undefined })
  const context: AdminContext = {
    present: () => ({ gear, targets: targets as readonly AdminTarget[], tokens }),
    journal,
    replica: 'gateway-1',
    clock,
    logger,
    chart: () => '<svg id="breaker"/>',
    ...overrides,
  }
  // as the gateway does: nothing of a body is read unless a route asks for it
  const server = Fastify({ forceCloseConnections: 'idle' })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }))
  registerAdmin(server, context)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`

  const send = (path: string, init: RequestInit = {}, token: string | undefined = ALICE) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...init.headers },
    })
  return {
    url,
    clock,
    gear,
    journal,
    server,
    lines,
    send,
    get: (path: string) => send(path),
    post: (path: string, body?: unknown, token?: string) =>
      send(
        path,
        {
          method: 'POST',
          ...(body !== undefined && {
            headers: { 'content-type': 'application/json' },
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
        },
        token,
      ),
    /** Calls and forgets what comes of it. */
    call: (model?: string) => gear.call('hello', model === undefined ? {} : { model }).catch(() => 'failed'),
    async [Symbol.asyncDispose]() {
      const closed = server.close()
      // a client may have opened one that it never used
      server.server.closeAllConnections()
      await closed
      await gear.close()
    },
  }
}

export type Admin = Awaited<ReturnType<typeof startAdmin>>

/** Whatever an answer may hold. */
interface Answer extends CircuitView {
  readonly replica: string
  readonly now: number
  readonly groups: readonly GroupView[]
  readonly circuits: readonly CircuitView[]
  readonly rows: readonly JournalRowView[]
  readonly journal: readonly JournalRowView[]
  readonly explanation: Explanation
  readonly error: { readonly code: string; readonly message: string; readonly didYouMean?: string[] }
}

export const json = async (response: Response) => (await response.json()) as Answer

/** A folder that is gone after the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'switchgear-admin-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}
