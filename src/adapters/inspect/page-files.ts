import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'

/** The public Stately inspector. Asked for by a browser, and only once somebody asks for it. */
export const STATELY = 'https://stately.ai/inspect'

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly status: number
  readonly type: string
  readonly body: Buffer | string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Switchgear inspector</title>
<h1>The inspector page is not built yet</h1>
<p>Build it and start again: <code>npx vite build visualizations/inspector</code></p>
</html>
`

/** Where the built page is: beside its sources, or in the package, where there is nothing but what was built. */
const BUILT = join(
  import.meta.dirname,
  '../../../visualizations/inspector',
  import.meta.filename.endsWith('.ts') ? 'dist' : '',
)

/** The page by its paths, in memory. Where it was not built, `/` says how to. */
export function pageFiles(folder: string = BUILT): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  const add = (path: string, name: string) => {
    const type = TYPES[extname(name)]
    if (type !== undefined) files.set(path, { status: 200, type, body: readFileSync(join(folder, name)) })
  }
  try {
    add('/', 'index.html')
    for (const name of readdirSync(join(folder, 'assets'))) add(`/assets/${name}`, `assets/${name}`)
  } catch {
    files.set('/', { status: 503, type: 'text/html; charset=utf-8', body: NOT_BUILT })
  }
  return files
}

/**
 * What goes with every answer: the page runs nothing but its own files, and frames nothing but the Stately inspector.
 * Its opener policy lets a window that it opens talk back.
 */
export function securityHeaders(inspector: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `frame-src ${new URL(inspector).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types switchgear-chart',
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  }
}
