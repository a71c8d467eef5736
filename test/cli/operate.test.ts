import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { CommanderError } from 'commander'
import { describe, expect, it, vi } from 'vitest'

import { circuitTable } from '../../src/cli/circuit-table.ts'
import { loadCommand } from '../../src/cli/commands.ts'
import { durationInWords, parseDuration } from '../../src/cli/duration.ts'
import { coloured, paintFor, plain } from '../../src/cli/paint.ts'
import type { CircuitsReport } from '../../src/gateway/admin/wire.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'
import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import { ALICE, fakeTarget, json, startAdmin, tempDir } from '../gateway/admin-support.ts'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A command in this process. */
async function run(url: string, name: string, ...args: string[]): Promise<Ended> {
  vi.stubEnv('SWITCHGEAR_URL', url)
  vi.stubEnv('SWITCHGEAR_TOKEN', ALICE)
  let out = ''
  let err = ''
  const command = await loadCommand(name)
  command
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (err += text) })
  try {
    await command.parseAsync(args, { from: 'user' })
    return { code: 0, out, err }
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { code: error.exitCode, out, err }
  } finally {
    vi.unstubAllEnvs()
  }
}

/** `openai` is open after two failures; twelve seconds have passed since. */
async function startOutage() {
  const openai = fakeTarget('openai', { model: 'gpt-5' })
  const admin = await startAdmin([openai.target, fakeTarget('backup').target])
  openai.state.down = true
  for (let i = 0; i < 5; i++) await admin.call()
  admin.clock.advance(12_000)
  return admin
}

describe('switchgear status', () => {
  it('is a table that begins with what is not well, and says why', async () => {
    await using admin = await startOutage()
    await admin.post('/admin/circuits/backup/close', { hold: true, ttlMs: 600_000, reason: 'all we have' })
    const { code, out, err } = await run(admin.url, 'status')
    expect([code, err]).toEqual([0, ''])
    // how long the fake calls took is left to the machine
    expect(out.replaceAll(/\d+ ms$/gm, '… ms').split('\n')).toEqual([
      `gateway-1 at ${admin.url}, 2026-11-30 03:00:12 UTC`,
      '2 circuits: 1 open, 1 closed; 1 held by hand',
      '',
      expect.stringMatching(
        /^CIRCUIT {2}STATE {9}FOR {3}NEXT {17}FAILURES {8}REFUSED {2}ANSWERED {2}FAILED +P95$/,
      ),
      expect.stringMatching(
        /^openai {3}open {10}12 s {2}trial in 18 s {8}server_error 2 {8}3 {9}0 {7}2 +… ms$/,
      ),
      '  └ 2 failures in a row, the last of kind server_error',
      expect.stringMatching(/^backup {3}closed, held {2}0 ms {2}hold ends in 10 min +0 {9}5 {7}0 +… ms$/),
      '  └ held by alice: "all we have"',
      '',
    ])
  })

  it('prints what the gateway says as JSON', async () => {
    await using admin = await startOutage()
    const { out } = await run(admin.url, 'status', '--json')
    expect(JSON.parse(out)).toEqual(await json(await admin.get('/admin/circuits')))
  })

  it('says so where there is no circuit yet', async () => {
    await using admin = await startAdmin([
      fakeTarget('openai', { circuitBreaker: { isolateByModel: true } }).target,
    ])
    expect((await run(admin.url, 'status')).out).toContain(
      'No circuit yet: each appears with its first call.',
    )
  })

  it('obeys nothing that a client called a model', async () => {
    await using admin = await startAdmin([
      fakeTarget('openai', { circuitBreaker: { isolateByModel: true } }).target,
    ])
    await admin.call('\u001b[2J\u001b]0;owned\u0007\u202egpt\r\n')
    const { out } = await run(admin.url, 'status')
    expect(out).toContain('openai/ [2J ]0;owned gpt')
    expect(/[\p{Cc}\u202e]/u.test(out.replaceAll('\n', ''))).toBe(false)
  })
})

/** `watch` only observes: it would be open after two failures, and refuses nobody. */
async function startWatching() {
  const watched = fakeTarget('watch', {
    circuitBreaker: { mode: 'observe', threshold: 2, cooldownMs: 30_000 },
  })
  const admin = await startAdmin([watched.target])
  watched.state.down = true
  for (let i = 0; i < 3; i++) await admin.call()
  admin.clock.advance(1000)
  return admin
}

describe('a circuit that is only observed', () => {
  it('is told apart in the table, in its counts as in its line', async () => {
    await using admin = await startWatching()
    const { out } = await run(admin.url, 'status')
    const [, counts, , , line, why] = out.split('\n')
    expect(counts).toBe('1 circuit: 1 would be open (only observed)')
    expect(line).toMatch(
      /^watch {4}open \(observed\) {2}1 s {2}trial in 29 s {2}server_error 2 {8}0 {9}0 {7}3 {2}/,
    )
    expect(why).toBe('  └ 2 failures in a row, the last of kind server_error')
    expect(
      circuitTable(await json(await admin.get('/admin/circuits')), {
        url: '',
        paint: coloured,
        all: false,
      }),
    ).toContain('\u001b[33mopen (observed)')
  })

  it('is told as what would be, with nothing to do about it', async () => {
    await using admin = await startWatching()
    const { out } = await run(admin.url, 'explain', 'watch')
    const lines = out.split('\n')
    expect(lines[0]).toBe('watch would be open (only observed: nothing is refused)')
    expect(lines).toContain('  ends      trial in 29 s; calls flow meanwhile')
    expect(out).toContain('  rules     Only observed: refuses nobody. Opens on')
    expect(out).not.toContain('calls are refused')
    expect(out).not.toContain('switchgear close')
  })

  it('is told so where it was opened or held by hand', async () => {
    await using admin = await startWatching()
    expect((await run(admin.url, 'close', 'watch', '--reason', 'x')).out).toMatch(/^watch is closed: /)
    expect((await run(admin.url, 'hold', 'watch', '--open', '--reason', 'x')).out).toMatch(
      /^watch would be open, held \(until ended by hand; only observed: nothing is refused\): held by alice/,
    )
    expect((await run(admin.url, 'status')).out).toMatch(/^watch +open, held \(observed\) /m)
  })
})

describe('the table', () => {
  const report = async (count: number): Promise<CircuitsReport> => {
    await using admin = await startAdmin(
      Array.from({ length: count }, (_, i) => fakeTarget(`target-${i}`).target),
    )
    await admin.post('/admin/circuits/target-3/open')
    return json(await admin.get('/admin/circuits'))
  }
  const options = { url: 'http://gateway', paint: plain, all: false }

  it('sums up what is well where there is much of it', async () => {
    const many = await report(40)
    const lines = circuitTable(many, options).split('\n')
    expect(lines.slice(4)).toEqual([
      expect.stringMatching(/^target-3 +open/),
      expect.stringMatching(/^ {2}└ by hand, by alice/),
      '39 more, closed; --all shows them',
    ])
    expect(circuitTable(many, { ...options, all: true }).split('\n')).toHaveLength(45)
  })

  it('has colours only for a terminal whose owner did not say no', async () => {
    const few = await report(4)
    expect(circuitTable(few, { ...options, paint: coloured })).toContain('\u001b[31mopen')
    expect(circuitTable(few, options)).not.toContain('\u001b')
    const isColoured = (isTTY: boolean | undefined, env: Record<string, string>) =>
      paintFor({ ...(isTTY !== undefined && { isTTY }) }, env) === coloured
    expect(isColoured(true, {})).toBe(true)
    expect(isColoured(true, { NO_COLOR: '' })).toBe(true)
    expect([isColoured(undefined, {}), isColoured(false, {})]).toEqual([false, false])
    expect([isColoured(true, { NO_COLOR: '1' }), isColoured(true, { TERM: 'dumb' })]).toEqual([false, false])
  })
})

describe('switchgear explain', () => {
  it('tells the story of a circuit', async () => {
    await using admin = await startOutage()
    const { code, out } = await run(admin.url, 'explain', 'openai')
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      'openai is open (calls are refused)',
      '  why       2 calls failed in a row; the limit is 2. The last failure was of kind "server error"',
      '  counted   2 failures up to now, probes that failed since it opened included: 2 of kind "server error"; 2 were in a row when it opened',
      '  since     2026-11-30 03:00:00 UTC, 12 s ago',
      '  ends      trial in 18 s; sooner: switchgear close openai',
      '  targets   openai (gpt-5)',
      '  calls     0 answered, 2 failed, 3 refused and saved',
      '            5 went on to another target',
      expect.stringMatching(/^ {2}p95 {7}\d+ ms$/),
      '  rules     Opens on 2 failures in a row. After 30 s a trial closes it once 1 of 1 probe succeeded.',
      '            A failure of kind "server error" means: the provider failed on its own side.',
      '',
      'Last transitions, the newest first (UTC)',
      '  03:00:00  closed → open         2 failures in a row, the last of kind server_error; next try in 30 s  (call call-2)',
      '',
    ])
  })

  it('keeps the evidence over a restart, into the trial', async () => {
    await using before = await startOutage()
    const { clock, journal } = before
    const openai = fakeTarget('openai', { model: 'gpt-5' })
    const targets = [openai.target, fakeTarget('backup').target]
    const gear = createSwitchgear({ targets, clock, journal, snapshots: journal.latest() })
    const tokens = adminTokens({ configured: { alice: ALICE }, file: undefined })
    await using admin = await startAdmin(targets, {
      clock,
      journal,
      present: () => ({ gear, targets, tokens }),
    })
    const story = async (circuit = 'openai') => (await run(admin.url, 'explain', circuit)).out
    const why = '2 calls failed in a row; the limit is 2. The last failure was of kind "server error"\n'
    const lost = '  counted   nothing since the process began anew\n'
    expect(await story()).toContain(why)
    expect(await story()).toContain(lost)
    expect(await story('backup')).toContain('  counted   no failures are counted\n')
    clock.advance(20_000)
    expect(await story()).toMatch(/^openai is half-open/)
    expect(await story()).toContain(`  opened    first because ${why}`)
    expect(await story()).toContain(lost)
    await gear.close()
  })

  it('says what ends each state', async () => {
    await using admin = await startOutage()
    const ends = async (circuit: string) =>
      / ends +(.*)/.exec((await run(admin.url, 'explain', circuit)).out)?.[1]
    expect(await ends('backup')).toBeUndefined()
    await admin.post('/admin/circuits/backup/open', { hold: true })
    expect(await ends('backup')).toBe('only by hand: switchgear close backup')
    await admin.post('/admin/circuits/backup/open', { hold: true, ttlMs: 60_000 })
    expect(await ends('backup')).toBe(
      'hold ends in 1 min, then a trial follows; sooner: switchgear close backup',
    )
    await admin.post('/admin/circuits/backup/close', { hold: true, ttlMs: 60_000 })
    expect(await ends('backup')).toBe(
      'hold ends in 1 min, then the rules are in force again; sooner: switchgear close backup',
    )
    admin.clock.advance(18_000)
    expect(await ends('openai')).toBe('the trial does: 0 succeeded, 0 failed, 0 under way')
  })

  it('prints everything as JSON', async () => {
    await using admin = await startOutage()
    const { out } = await run(admin.url, 'explain', 'openai', '--json')
    expect(JSON.parse(out)).toMatchObject({
      circuit: 'openai',
      explanation: { bucket: 'openai' },
      journal: expect.any(Array),
    })
  })

  it('finds a circuit with a slash in its name, and shows what can be pasted', async () => {
    const { target } = fakeTarget('openai', { circuitBreaker: { isolateByModel: true } })
    await using admin = await startAdmin([target])
    await admin.call("it's a model")
    await run(admin.url, 'hold', "openai/it's a model", '--open')
    const { out } = await run(admin.url, 'explain', "openai/it's a model")
    expect(out).toContain(`switchgear close 'openai/it'\\''s a model'`)
  })
})

describe('switchgear open, close and hold', () => {
  it('act, say what came of it, and keep who and why', async () => {
    await using admin = await startOutage()
    const closed = await run(admin.url, 'close', 'openai', '--reason', 'status page is green')
    expect(closed).toEqual({
      code: 0,
      out: 'openai is closed: by hand, by alice ("status page is green")\n',
      err: '',
    })
    const opened = await run(admin.url, 'open', 'openai', '--reason', 'not quite')
    expect(opened.out).toBe('openai is open (trial in 30 s): by hand, by alice ("not quite")\n')
    const { rows } = await json(await admin.get('/admin/journal?type=operator.opened'))
    expect(rows[0]).toMatchObject({ by: 'alice', reason: 'not quite' })
  })

  it('hold either way, for a time or until somebody ends it', async () => {
    await using admin = await startOutage()
    const open = await run(admin.url, 'hold', 'openai', '--open', '--for', '1h30m', '--reason', 'invoice')
    expect(open.out).toBe('openai is open, held (hold ends in 1 h 30 min): held by alice: "invoice"\n')
    const closed = await run(admin.url, 'hold', 'openai', '--closed', '--reason', 'we need it')
    expect(closed.out).toBe('openai is closed, held (until ended by hand): held by alice: "we need it"\n')
    const { hold } = await json(await admin.get('/admin/circuits/openai'))
    expect(hold).toEqual({ by: 'alice', reason: 'we need it', until: null })
  })

  it('ask for a reason where none is given, and act all the same', async () => {
    await using admin = await startOutage()
    const { code, err } = await run(admin.url, 'close', 'openai')
    expect([code, err]).toEqual([
      0,
      'No --reason was given: the journal will tell who did it, but not why.\n',
    ])
    expect(admin.gear.getCircuitState()).toBe('closed')
  })

  it('do not say that a held circuit has opened', async () => {
    await using admin = await startOutage()
    await run(admin.url, 'hold', 'backup', '--closed')
    const { code, err } = await run(admin.url, 'open', 'backup', '--reason', 'down')
    expect(code).toBe(1)
    expect(err).toBe(
      "error: 'backup' did not open. It is held closed by alice, and a plain open lifts no hold. Hold it open, or close it first.\n",
    )
    expect((await run(admin.url, 'hold', 'backup', '--open')).out).toContain('backup is open, held')
  })

  it('print the circuit as JSON', async () => {
    await using admin = await startOutage()
    const { out, err } = await run(admin.url, 'open', 'openai', '--json')
    expect([JSON.parse(out).circuit, err]).toEqual(['openai', ''])
  })

  it.each([
    [['hold', 'openai'], 1, /^error: say which way: --open refuses every call, --closed refuses none\n$/],
    [['hold', 'openai', '--open', '--closed'], 1, /cannot be used with option '--closed'/],
    [
      ['hold', 'openai', '--open', '--for', '10'],
      1,
      /A duration is a number with a unit, such as 90s, 10m, 2h or 1h30m\.\n$/,
    ],
    [['hold', 'openai', '--open', '--for', '0s'], 1, /A duration is a number with a unit/],
    [['hold', 'openai', '--open', '--for', '1000d'], 1, /^error: ttlMs must be .* \(366 days\)\.\n$/],
    [['open'], 1, /missing required argument 'circuit'/],
    [['open', 'opnai'], 4, /^error: There is no circuit 'opnai'\. Did you mean 'openai'\?\n$/],
    [['explain', 'nonsense'], 4, /^error: There is no circuit 'nonsense'\. Known: 'openai', 'backup'\.\n$/],
    [['close', '__proto__'], 4, /^error: There is no circuit '__proto__'\./],
    [['status', '--token', 'wrong-token'], 3, /does not know the token from --token/],
    [
      ['status', '--token', 'two words'],
      3,
      /^error: The token from --token is none: it must be one word\.\n$/,
    ],
    [['status', '--url', 'gateway:4000'], 1, /^error: The URL from --url is none of a gateway/],
    [['status', '--url', 'http://user:secret@127.0.0.1:4000'], 1, /is none of a gateway(?!.*secret)/s],
  ] as const)('%j is refused with exit code %i', async ([name, ...args], exitCode, message) => {
    await using admin = await startOutage()
    const { code, out, err } = await run(admin.url, name, ...args)
    expect(err).toMatch(message)
    expect([code, out]).toEqual([exitCode, ''])
    expect(admin.gear.getCircuitState()).toBe('open')
  })
})

describe('the name of a model group', () => {
  const group = {
    name: 'smart',
    targets: ['openai', 'azure', 'plain'],
    strategy: 'ordered',
    fallbacks: ['backup'],
  }

  it.each([['explain'], ['open'], ['close'], ['hold', '--open']])(
    'is no circuit, and %s names those of its targets',
    async (name, ...more) => {
      const { circuitBreaker: _none, ...plain } = fakeTarget('plain').target
      const targets = [
        fakeTarget('openai').target,
        fakeTarget('azure', { bucket: 'shared' }).target,
        { ...plain, circuitBreaker: false as const },
        fakeTarget('backup').target,
      ]
      const tokens = adminTokens({ configured: { alice: ALICE }, file: undefined })
      const gear = createSwitchgear({ targets })
      await using admin = await startAdmin(targets, {
        present: () => ({ gear, targets, tokens, groups: [group] }),
      })
      const { code, out, err } = await run(admin.url, name, 'smart', ...more)
      expect({ code, out, err }).toEqual({
        code: 4,
        out: '',
        err: "error: There is no circuit 'smart': it is a model group, and circuits are those of its targets: openai, azure (circuit shared), plain (no circuit so far), and of its fallbacks: backup.\n",
      })
      await gear.close()
    },
  )
})

describe('a gateway that is not there', () => {
  /** Somebody else's server. */
  async function startOther(handle: Parameters<typeof createServer>[1]) {
    const server = createServer(handle).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      [Symbol.dispose]: () => {
        server.closeAllConnections()
        server.close()
      },
    }
  }

  it('is told with the place where it was looked for', async () => {
    const taken = createTcpServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    await new Promise((resolve) => taken.close(resolve))
    const { code, err } = await run(`http://127.0.0.1:${port}`, 'status')
    expect(code).toBe(2)
    expect(err).toBe(
      `error: No gateway answers at http://127.0.0.1:${port} (SWITCHGEAR_URL): the connection is refused. Is it running there? Say where it is with --url or SWITCHGEAR_URL; with server.admin in its configuration, the admin API has a port of its own.\n`,
    )
  })

  it.each([
    ['a page', 200, 'text/html', '<h1>Hello</h1>'],
    ['a page that is not there', 404, 'text/html', '<h1>Not found</h1>'],
    [
      'the port of a gateway without its admin API',
      404,
      'application/json',
      '{"error": {"message": "There is no GET /admin/circuits here.", "code": "unknown_url"}}',
    ],
    ['a login', 302, 'text/html', ''],
  ])('is not taken for %s', async (_what, status, type, body) => {
    const asked: string[] = []
    using other = await startOther((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(status, { 'content-type': type, location: '/login' }).end(body)
    })
    const { code, err } = await run(other.url, 'status')
    expect([code, asked]).toEqual([2, ['/admin/circuits']])
    expect(err).toMatch(/has no admin API \(status \d+\)\. With server\.admin .* it has a port of its own/)
  })

  it('is asked under the URL that clients know it by, too', async () => {
    await using admin = await startOutage()
    for (const path of ['/', '/v1', '/v1/', '/admin', '/status']) {
      expect((await run(`${admin.url}${path}`, 'status')).code).toBe(0)
    }
  })

  it('behind a path of a proxy is asked there', async () => {
    const asked: string[] = []
    using other = await startOther((request, response) => {
      asked.push(request.url ?? '')
      response.end('{}')
    })
    await run(`${other.url}/switchgear/`, 'open', 'a/b').catch(() => {})
    expect(asked).toEqual(['/switchgear/admin/circuits/a%2Fb/open'])
  })

  it('does not write into the terminal what it pleases', async () => {
    using other = await startOther((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: '\u001b[2Jowned\nsecond line', code: 'x' } }))
    })
    const { code, err } = await run(other.url, 'status')
    expect([code, err]).toEqual([1, 'error: [2Jowned\nsecond line\n'])
  })
})

describe('in a process of its own', () => {
  const tsx = import.meta.resolve('tsx')
  const main = join(import.meta.dirname, '../../src/cli/main.ts')

  function start(args: readonly string[], cwd: string, env: Record<string, string>) {
    const { SWITCHGEAR_TOKEN: _, SWITCHGEAR_URL: __, ...others } = process.env
    const child = spawn(process.execPath, ['--import', tsx, main, ...args], {
      cwd,
      env: { ...others, ...env },
    })
    const said = { out: '', err: '' }
    child.stdout.on('data', (data) => (said.out += data))
    child.stderr.on('data', (data) => (said.err += data))
    const ended = new Promise<Ended>((resolve) =>
      child.once('close', (code) => resolve({ code: code ?? -1, ...said })),
    )
    return { child, said, ended }
  }

  it('the token is found in the working directory, and its lack is told', async () => {
    await using admin = await startOutage()
    const dir = tempDir()
    const without = start(['status', '--url', admin.url], dir, {}).ended
    const { code, err } = await without
    expect(code).toBe(3)
    expect(err).toMatch(
      /^error: There is no token: neither --token nor SWITCHGEAR_TOKEN is given, and \.\/switchgear\.token is not here\./,
    )
    writeFileSync(join(dir, 'switchgear.token'), `${ALICE}\n`, { mode: 0o600 })
    const found = await start(['status', '--url', admin.url], dir, {}).ended
    expect([found.code, found.err]).toEqual([0, ''])
    expect(found.out).toMatch(/^openai +open/m)
  })

  it('status --watch tells each transition in a line, and waits for a gateway that is gone', async () => {
    await using admin = await startOutage()
    const on = admin.gear.on.bind(admin.gear)
    let connections = 0
    admin.gear.on = (event, listener) => {
      connections++
      return on(event, listener)
    }
    const { child, said, ended } = start(['status', '--watch', '--url', admin.url], tempDir(), {
      SWITCHGEAR_TOKEN: ALICE,
    })
    await expect.poll(() => said.out, { timeout: 20_000 }).toMatch(/^openai +open/m)
    await admin.post('/admin/circuits/openai/close', { reason: 'it is back' })
    await expect
      .poll(() => said.out)
      .toContain('03:00:12  openai  open → closed: by hand, by alice ("it is back")\n')
    admin.server.server.closeAllConnections()
    await expect.poll(() => said.err).toMatch(/rying again …/)
    await expect.poll(() => connections, { timeout: 10_000 }).toBe(2)
    await admin.post('/admin/circuits/openai/open', { reason: 'again' })
    await expect
      .poll(() => said.out, { timeout: 10_000 })
      .toContain('openai  closed → open: by hand, by alice ("again"); trial in 30 s\n')
    child.kill('SIGINT')
    await ended
  })
})

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['10min', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['500ms', 500],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['', undefined],
    ['10', undefined],
    ['m', undefined],
    ['10 m', undefined],
    ['-10m', undefined],
    ['10x', undefined],
    ['1e3s', undefined],
    ['NaNs', undefined],
  ])('%j is read as %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    [0, '0 ms'],
    [250, '250 ms'],
    [18_000, '18 s'],
    [59_600, '1 min'],
    [130_000, '2 min 10 s'],
    [3_600_000, '1 h'],
    [3_725_000, '1 h 2 min'],
    [273_600_000, '3 d 4 h'],
    [-5, '0 ms'],
  ])('%j ms are %j', (ms, words) => {
    expect(durationInWords(ms)).toBe(words)
  })
})
