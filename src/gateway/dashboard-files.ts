import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { STATELY, securityHeaders } from '../adapters/inspect/page-files.ts'

/** A file of the dashboard, as it is sent. */
interface Served {
  readonly body: Buffer
  readonly gzip: Buffer | undefined
  readonly headers: Readonly<Record<string, string>>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Nothing but the page's own files, no word of it run as a script or a style, no frame around it, and no text parsed as
 * markup but the chart.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types switchgear-chart',
].join('; ')

const SECURITY = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The page of the live actors may frame the Stately inspector, too, and talk with a window of it. */
const INSPECTOR_SECURITY = securityHeaders(STATELY)

// the name of an asset changes with its content
const FOR_EVER = 'public, max-age=31536000, immutable'
const ASK_AGAIN = 'no-cache'
const WORTH_ZIPPING = 1024

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Switchgear</title>
<h1>The dashboard is not built yet</h1>
<p>Build it and start the gateway again: <code>npx vite build visualizations/dashboard</code></p>
<p>Meanwhile <code>switchgear status</code> and <a href="status">/status</a> tell how the circuits stand.</p>
</html>
`

/** Where the built page is: beside its sources, or in the package, where there is nothing but what was built. */
const BUILT = join(
  import.meta.dirname,
  '../../visualizations/dashboard',
  import.meta.filename.endsWith('.ts') ? 'dist' : '',
)

/** The dashboard at `/`, the live actors at `/inspect`, all from memory. Where they were not built, `/` says how to. */
export function registerDashboard(server: FastifyInstance, folder: string = BUILT): void {
  const index = read(folder, 'index.html', SECURITY, ASK_AGAIN)
  if (index === undefined) {
    server.get('/', (_request, reply) =>
      reply
        .code(503)
        .headers(SECURITY)
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(NOT_BUILT),
    )
    return
  }
  server.get('/', (request, reply) => send(request, reply, index))
  const inspector = read(folder, 'inspect.html', INSPECTOR_SECURITY, ASK_AGAIN)
  if (inspector !== undefined) server.get('/inspect', (request, reply) => send(request, reply, inspector))
  for (const name of namesIn(join(folder, 'assets'))) {
    const asset = read(join(folder, 'assets'), name, SECURITY, FOR_EVER)
    if (asset !== undefined) server.get(`/assets/${name}`, (request, reply) => send(request, reply, asset))
  }
}

function read(
  folder: string,
  name: string,
  security: Readonly<Record<string, string>>,
  cacheControl: string,
): Served | undefined {
  const type = TYPES[extname(name)]
  if (type === undefined) return undefined
  let body: Buffer
  try {
    body = readFileSync(join(folder, name))
  } catch {
    return undefined
  }
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  return {
    body,
    gzip: body.length < WORTH_ZIPPING ? undefined : gzipSync(body, { level: 9 }),
    headers: {
      ...security,
      'content-type': type,
      'cache-control': cacheControl,
      etag,
      vary: 'accept-encoding',
    },
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function send(
  { headers: asked }: FastifyRequest,
  reply: FastifyReply,
  { body, gzip, headers }: Served,
): FastifyReply {
  void reply.headers(headers)
  const known = asked['if-none-match'] ?? ''
  if (known.split(/\s*,\s*/).some((tag) => tag.replace(/^W\//, '') === headers['etag']))
    return reply.code(304).send()
  const zips = /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/.test(String(asked['accept-encoding'] ?? ''))
  if (gzip === undefined || !zips) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(gzip)
}
