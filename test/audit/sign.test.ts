import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audited } from '../../src/audit/audited.ts'
import { compare, embedded, sign, signatureIn } from '../../src/audit/sign/signature.ts'
import { auditCommand } from '../../src/cli/audit.ts'
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

      writeFileSync(file, config(6))
      const other = await audit(file, '--verify', report)
      expect(other.exitCode).toBe(1)
      expect(other.out).toContain('targets.a.circuitBreaker.rules[0].threshold: 5 → 6')

      writeFileSync(file, config(5))
      writeFileSync(report, text.replace('5 failures in a row', '9 failures in a row'))
      const edited = await audit(file, '--verify', report)
      expect(edited.exitCode).toBe(1)
      expect(edited.out).toContain('the text of the report is another')
    },
  )

  it('refuses what is no report', async () => {
    const file = join(dir, 'x.html')
    writeFileSync(file, '<html></html>')
    await expect(audit('--verify', file)).rejects.toMatchObject({ exitCode: 1 })
    await expect(audit('--verify', join(dir, 'none.html'))).rejects.toMatchObject({ exitCode: 1 })
  })

  it('--fail-on ends with 1 where the linter finds something as bad', async () => {
    const file = join(dir, 'gateway.yaml')
    writeFileSync(file, config(5))
    const out = ['--out', join(dir, 'r.md')]
    expect((await audit(file, ...out, '--fail-on', 'problem')).exitCode).toBeUndefined()
    expect((await audit(file, ...out, '--fail-on', 'warning')).exitCode).toBe(1)
  })
})
