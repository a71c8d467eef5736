import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audited } from '../../src/audit/audited.ts'
import { compare, embedded, sign, signatureIn } from '../../src/audit/sign/signature.ts'
import { PLACE, sealed, sealOf } from '../../src/audit/sign/seal.ts'
import { auditCommand } from '../../src/cli/audit.ts'
import { packageVersion } from '../../src/telemetry/package-version.ts'
import type { SwitchgearOptions } from '../../src/core/switchgear-options.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'

const invoke = () => 'ok'
const target = (more: Partial<TargetOptions> = {}): TargetOptions => ({
  name: 'a',
  invoke,
  circuitBreaker: true,
  ...more,
})
const signed = (more: Partial<TargetOptions> = {}, options: Partial<SwitchgearOptions> = {}) =>
  sign(audited({ targets: [target(more)], ...options }))

describe('what is signed', () => {
  it('is the same for the same rules, however they are spelled', () => {
    const { hash } = signed()
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(
      signed({ circuitBreaker: { threshold: 5, tripping: { kind: 'consecutive' } }, timeoutMs: 60_000 }).hash,
    ).toBe(hash)
  })

  it.each<[string, ReturnType<typeof signed>, string]>([
    [
      'a threshold',
      signed({ circuitBreaker: { threshold: 6 } }),
      'targets.a.circuitBreaker.rules[0].threshold: 5 → 6',
    ],
    [
      'a threshold of never',
      signed({ circuitBreaker: { threshold: Infinity } }),
      'targets.a.circuitBreaker.rules[0].threshold: 5 → "Infinity"',
    ],
    ['a limit', signed({ idleTimeoutMs: 20_000 }), 'targets.a.idleTimeoutMs: 30000 → 20000'],
    ['no breaker', signed({ circuitBreaker: false }), 'targets.a.circuitBreaker: '],
    ['a deadline', signed({}, { deadlineMs: 1000 }), 'deadlineMs: none → 1000'],
    [
      'code of the user’s own',
      signed({ circuitBreaker: { shouldCount: () => true } }),
      'targets.a.custom: [] → ["circuitBreaker.shouldCount"]',
    ],
  ])('is another with %s, and says so', (_name, other, difference) => {
    const { same, differences } = compare(signed(), other)
    expect(same).toBe(false)
    expect(differences.join('\n')).toContain(difference)
  })

  it('is another where a machine or the table of failures is another', () => {
    const now = signed()
    const changed = { ...now, law: { ...now.law, chain: 'x' } }
    expect(compare(now, changed).differences).toEqual([
      'the machine of the fallback chain: another than was signed',
    ])
  })

  it('does not depend on code that it cannot read, but names it', () => {
    const one = signed({ circuitBreaker: { shouldCount: () => true } })
    const other = signed({ circuitBreaker: { shouldCount: () => false } })
    expect(compare(one, other)).toEqual({ same: true, differences: [] })
  })

  it('notices that a signature was edited', () => {
    const whole = signed()
    const { facts } = signed({ timeoutMs: 1000 })
    expect(compare({ ...whole, facts }, whole).differences[0]).toContain(
      'its hash is not that of what it signs',
    )
  })

  it('survives its way through a report', () => {
    const signature = signed()
    expect(signatureIn(`<!-- ${embedded(signature)} -->`)).toEqual(signature)
    expect(signatureIn('a report without one')).toBeUndefined()
    expect(signatureIn('switchgear-signature bm90IGpzb24=')).toBeUndefined()
  })

  it('holds no secret', () => {
    const text = JSON.stringify(
      sign(audited({ targets: [target()] }, { hosts: { a: 'api.example.com' }, alerts: [{ on: ['open'] }] })),
    )
    expect(text).toContain('api.example.com')
    expect(text).not.toMatch(/https?:|whsec|sk-/)
  })
})

describe('switchgear audit --verify', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'audit-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
    process.exitCode = undefined
  })

  const config = (threshold: number) =>
    `targets:\n  - { name: a, baseUrl: https://a.example.com/v1, apiKey: sk-secret-0123456789, circuitBreaker: { threshold: ${threshold} } }\nalerts: [{ url: https://hooks.example.com/secretpath, secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3 }]\n`

  async function audit(...args: string[]): Promise<{ out: string; exitCode: unknown }> {
    let out = ''
    process.exitCode = undefined
    const command = auditCommand()
      .exitOverride()
      .configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (out += text) })
    await command.parseAsync(args, { from: 'user' })
    return { out, exitCode: process.exitCode }
  }

  it.each(['html', 'md'])(
    'says the same, what differs, and that the text was edited (%s)',
    async (extension) => {
      const [file, report] = [join(dir, 'gateway.yaml'), join(dir, `report.${extension}`)]
      writeFileSync(file, config(5))
      const written = await audit(file, '--out', report, '--calls-per-minute', '200')
      expect(written.exitCode).toBeUndefined()
      const text = readFileSync(report, 'utf8')
      const inside = JSON.stringify(signatureIn(text))
      for (const told of [text, inside]) expect(told).not.toMatch(/sk-secret|secretpath|whsec|hooks\.example/)
      expect(inside).toContain('a.example.com')
      const [, short] = /hash ([0-9a-f ]+)\./.exec(written.out)!
      expect(text).toContain(short)

      const same = await audit(file, '--verify', report)
      expect(same.exitCode).toBeUndefined()
      expect(same.out).toContain(`Same: the rules in force are those that were signed (${short})`)
      expect(same.out).toContain(`the report is as version ${packageVersion()} wrote it`)

      writeFileSync(file, config(6))
      const other = await audit(file, '--verify', report)
      expect(other.exitCode).toBe(1)
      expect(other.out).toContain('targets.a.circuitBreaker.rules[0].threshold: 5 → 6')

      writeFileSync(file, config(5))
      writeFileSync(report, text.replace('5 failures in a row', '9 failures in a row'))
      const edited = await audit(file, '--verify', report)
      expect(edited.exitCode).toBe(1)
      expect(edited.out).toContain('the text of the report was edited after it was written')
      expect(edited.out).toMatch(/in the report:.*9 failures in a row/)
      expect(edited.out).toMatch(/as it is written now:.*5 failures in a row/)
    },
  )

  it('tells another version from an edit, and names the first line that differs', async () => {
    const [file, report] = [join(dir, 'gateway.yaml'), join(dir, 'report.md')]
    writeFileSync(file, config(5))
    await audit(file, '--out', report)
    const text = readFileSync(report, 'utf8')
    const { seal } = sealOf(text)!
    const older = (words: string, version: string) =>
      sealed(
        text
          .replace(/switchgear-report [A-Za-z0-9+/=]+/, PLACE)
          .replaceAll(`switchgear ${seal.version}`, `switchgear ${version}`)
          .replace('5 failures in a row', words),
        { ...seal, version },
      )

    writeFileSync(report, older('five failures on end', '0.0.9'))
    const other = await audit(file, '--verify', report)
    expect(other.exitCode).toBeUndefined()
    expect(other.out).toContain(
      `the report is as version 0.0.9 wrote it; this is version ${seal.version}, which words it differently`,
    )
    expect(other.out).toContain('the first line that differs is line 3:')

    // who edits and seals anew is found out by the words
    writeFileSync(report, older('9 failures in a row', seal.version))
    const forged = await audit(file, '--verify', report)
    expect(forged.exitCode).toBe(1)
    expect(forged.out).toContain('it was edited and sealed anew, or another build of this version wrote it')
    expect(forged.out).toMatch(/in the report:.*9 failures in a row/)

    writeFileSync(report, older('9 failures in a row', '0.0.9').replace('30 s', '31 s'))
    const both = await audit(file, '--verify', report)
    expect(both.exitCode).toBe(1)
    expect(both.out).toMatch(/was edited after it was written; it was written by version 0\.0\.9, this is/)
  })

  it('does not mind that the file has another name now, and says so', async () => {
    const [file, report] = [join(dir, 'gateway.yaml'), join(dir, 'report.html')]
    writeFileSync(file, config(5))
    await audit(file, '--out', report)
    const moved = join(dir, 'production.yaml')
    writeFileSync(moved, config(5))
    const { out, exitCode } = await audit(moved, '--verify', report)
    expect(exitCode).toBeUndefined()
    expect(out).toContain('the report was written for gateway.yaml; what was compared is production.yaml')
  })

  it('needs no key, neither to write nor to verify', async () => {
    const [file, report] = [join(dir, 'gateway.yaml'), join(dir, 'report.md')]
    const unset = (name: string) => `\${NOT_SET_${name}}`
    writeFileSync(
      file,
      `targets:
  - name: a
    baseUrl: https://a.example.com/v1
    apiKey: ${unset('KEY')}
    headers: { x-team: "${unset('TEAM')}" }
    circuitBreaker: true
admin: { tokens: { alice: "${unset('TOKEN')}" } }
server: { clientKeys: { team: "${unset('CLIENT')}" } }
alerts: [{ url: "${unset('URL')}", secret: "${unset('SECRET')}" }]
`,
    )
    const written = await audit(file, '--out', report)
    expect(written.out).toContain('is written')
    expect(readFileSync(report, 'utf8')).not.toContain('NOT_SET')
    expect((await audit(file, '--verify', report)).out).toContain('Same: ')
    // of what is no secret the value may be a rule
    writeFileSync(file, config(5).replace('https://a.example.com/v1', `"https://${unset('HOST')}/v1"`))
    await expect(audit(file, '--out', report)).rejects.toThrow('NOT_SET_HOST is not set')
  })

  it('signs rules, not what was assumed', async () => {
    const file = join(dir, 'gateway.yaml')
    writeFileSync(file, config(5))
    const hashOf = async (...args: string[]) =>
      /hash ([0-9a-f ]+)\./.exec((await audit(file, '--out', join(dir, 'r.md'), ...args)).out)![1]
    expect(await hashOf('--calls-per-minute', '200', '--healthy-failures', '1%')).toBe(await hashOf())
  })

  it('refuses what is no report', async () => {
    const file = join(dir, 'x.html')
    writeFileSync(file, '<html></html>')
    await expect(audit('--verify', file)).rejects.toMatchObject({ exitCode: 1 })
    await expect(audit('--verify', join(dir, 'none.html'))).rejects.toMatchObject({ exitCode: 1 })
    const older = Buffer.from(JSON.stringify({ version: 1, law: {}, facts: { padding: 'x'.repeat(80) } }))
    writeFileSync(file, `<!-- switchgear-signature ${older.toString('base64')} -->`)
    await expect(audit('--verify', file)).rejects.toThrow('was signed by another version')
  })

  it('--fail-on ends with 1 where the linter finds something as bad', async () => {
    const file = join(dir, 'gateway.yaml')
    writeFileSync(file, config(5))
    const out = ['--out', join(dir, 'r.md')]
    expect((await audit(file, ...out, '--fail-on', 'problem')).exitCode).toBeUndefined()
    expect((await audit(file, ...out, '--fail-on', 'warning')).exitCode).toBe(1)
  })
})
