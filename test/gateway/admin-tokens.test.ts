import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { GuessLimit, network } from '../../src/gateway/admin/guess-limit.ts'
import { adminTokens } from '../../src/gateway/admin/tokens.ts'
import { cleanWords } from '../../src/gateway/admin/words.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { ALICE, BOB, tempDir } from './admin-support.ts'

const modeOf = (file: string) => statSync(file).mode & 0o777

describe('configured tokens', () => {
  it('say whose they are, and touch no file', () => {
    const dir = tempDir()
    const tokens = adminTokens({
      configured: { alice: ALICE, bob: BOB },
      file: join(dir, 'switchgear.token'),
    })
    expect(tokens.identify(ALICE)).toEqual({ name: 'alice', strong: true })
    expect(tokens.identify(BOB)).toEqual({ name: 'bob', strong: false })
    expect([tokens.made, tokens.file, tokens.warning]).toEqual([undefined, undefined, undefined])
    expect(readdirSync(dir)).toEqual([])
  })

  it.each(['', ' ', ALICE.slice(1), `${ALICE} `, ALICE.toUpperCase(), 'x'.repeat(100_000), 'ü€\u0000'])(
    'know no other: %j',
    (presented) => {
      expect(
        adminTokens({ configured: { alice: ALICE }, file: undefined }).identify(presented),
      ).toBeUndefined()
    },
  )

  it('are refused where they are too short to be any, or where nobody could tell who acted', () => {
    const make = (configured: Record<string, string>) => () => adminTokens({ configured, file: undefined })
    expect(make({ alice: 'short' })).toThrow(/'alice' has fewer than 16 characters.*openssl rand/s)
    // as in a configuration
    expect(make({ alice: 'fifteen-letters' })).toThrow(/fewer than 16/)
    expect(make({ alice: 'sixteen-letters-' })).not.toThrow()
    expect(make({ alice: ALICE, bob: ALICE })).toThrow(/'alice' and 'bob' have the same admin token/)
    expect(make({ alice: 'short' })).not.toThrow('short.')
  })
})

describe('a token of its own', () => {
  it('is made at the first start, kept for its owner alone, and shown once', () => {
    const file = join(tempDir(), 'switchgear.token')
    const first = adminTokens({ file })
    expect(first.made).toMatch(/^sgadm_[\w-]{43}$/)
    expect(first.file).toBe(file)
    expect(modeOf(file)).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toBe(`${first.made}\n`)
    const second = adminTokens({ configured: {}, file })
    expect([second.made, second.warning]).toEqual([undefined, undefined])
    expect(second.identify(first.made ?? '')).toEqual({ name: 'admin', strong: true })
  })

  it('is another one in every file', () => {
    const made = () => adminTokens({ file: join(tempDir(), 'switchgear.token') }).made
    expect(made()).not.toBe(made())
  })

  it.each([0o644, 0o640, 0o660, 0o602])(
    'closes a file of mode %o to others, and says that they may know it',
    (mode) => {
      const file = join(tempDir(), 'switchgear.token')
      const { made = '' } = adminTokens({ file })
      chmodSync(file, mode)
      const again = adminTokens({ file })
      expect(modeOf(file)).toBe(0o600)
      expect(again.warning).toMatch(/delete the file and start again/)
      expect(again.warning).not.toContain(made)
      expect(again.identify(made)?.name).toBe('admin')
    },
  )

  it('is not taken from a link, an empty file, a folder or a text', () => {
    const dir = tempDir()
    writeFileSync(join(dir, 'real'), 'token-of-somebody-else\n', { mode: 0o600 })
    symlinkSync(join(dir, 'real'), join(dir, 'link'))
    writeFileSync(join(dir, 'empty'), '', { mode: 0o600 })
    writeFileSync(join(dir, 'text'), 'two words that are long enough', { mode: 0o600 })
    mkdirSync(join(dir, 'folder'))
    const from = (name: string) => () => adminTokens({ file: join(dir, name) })
    expect(from('link')).toThrow(/is a link. Delete it and start again/)
    expect(from('empty')).toThrow(/holds no token/)
    expect(from('text')).toThrow(/holds no token/)
    expect(from('folder')).toThrow(/folder is no file/)
    expect(from('text')).not.toThrow('two words')
  })

  it.runIf(process.getuid?.() === 0)('is not taken from a file of another user', () => {
    const file = join(tempDir(), 'switchgear.token')
    adminTokens({ file })
    chownSync(file, 12_345, 12_345)
    expect(() => adminTokens({ file })).toThrow(/belongs to another user, who may know the token/)
  })

  it('lasts as long as the process where it is not to be kept', () => {
    const tokens = adminTokens({ file: undefined })
    expect(tokens.identify(tokens.made ?? '')?.name).toBe('admin')
    expect([tokens.file, tokens.warning]).toEqual([undefined, undefined])
  })

  it('lasts as long as the process where it cannot be kept', () => {
    const tokens = adminTokens({ file: join(tempDir(), 'no', 'such', 'folder', 'switchgear.token') })
    expect(tokens.identify(tokens.made ?? '')?.name).toBe('admin')
    expect(tokens.file).toBeUndefined()
    expect(tokens.warning).toMatch(/cannot be kept .*\(ENOENT\).*the next start makes another one/)
  })
})

describe('a reload', () => {
  it('keeps the token that was made, wherever it is kept', () => {
    for (const file of [undefined, join(tempDir(), 'no', 'folder', 'token'), join(tempDir(), 'token')]) {
      const before = adminTokens({ file })
      const after = adminTokens({ file, before })
      expect(after.identify(before.made ?? '')?.name).toBe('admin')
      // it was shown already
      expect([after.made, after.warning]).toEqual([undefined, undefined])
    }
  })

  it('takes it out of use where tokens are configured now, and makes one where none is any more', () => {
    const before = adminTokens({ file: undefined })
    const configured = adminTokens({ configured: { alice: ALICE }, file: undefined, before })
    expect(configured.identify(before.made ?? '')).toBeUndefined()
    const after = adminTokens({ file: undefined, before: configured })
    expect(after.identify(ALICE)).toBeUndefined()
    expect(after.identify(after.made ?? '')?.name).toBe('admin')
  })
})

describe('wrong tokens', () => {
  it('are ten at once from one address, then one every six seconds', () => {
    const clock = new VirtualClock()
    const guesses = new GuessLimit(clock)
    for (let i = 0; i < 10; i++) {
      expect(guesses.waitMs('10.0.0.1')).toBe(0)
      guesses.wrong('10.0.0.1')
    }
    expect(guesses.waitMs('10.0.0.1')).toBe(6000)
    expect(guesses.waitMs('10.0.0.2')).toBe(0)
    clock.advance(6000)
    expect(guesses.waitMs('10.0.0.1')).toBe(0)
    guesses.wrong('10.0.0.1')
    expect(guesses.waitMs('10.0.0.1')).toBe(6000)
    clock.advance(3_600_000)
    expect(guesses.waitMs('10.0.0.1')).toBe(0)
  })

  it('are a hundred a minute from everywhere together', () => {
    const clock = new VirtualClock()
    const guesses = new GuessLimit(clock)
    for (let i = 0; i < 100; i++) guesses.wrong(`10.0.1.${i}`)
    expect(guesses.waitMs('10.0.0.2')).toBe(600)
  })

  it('are remembered of a thousand addresses at most', () => {
    const clock = new VirtualClock()
    const guesses = new GuessLimit(clock)
    for (let i = 0; i < 5000; i++) {
      guesses.wrong(`10.1.${i >> 8}.${i & 255}`)
      clock.advance(1)
    }
    expect(guesses.size).toBe(1000)
    clock.advance(60_000)
    guesses.wrong('10.9.9.9')
    expect(guesses.size).toBe(1)
  })

  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:0db8:0:0:ffff::1', '2001:db8:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ])('count together from one network: %s', (address, expected) => {
    expect(network(address)).toBe(expected)
  })
})

describe("somebody else's words", () => {
  it.each([
    ['down\r\nHTTP/1.1 200 OK', 'down HTTP/1.1 200 OK'],
    ['\u001b[2J\u001b]0;owned\u0007', '[2J ]0;owned'],
    ['a\u202egnp.exe', 'a gnp.exe'],
    ['  much   room  ', 'much room'],
    ['<b>bold</b>', '<b>bold</b>'],
    ['\ud800', '\ufffd'],
    ['\u0000', ''],
  ])('%j become %j', (words, clean) => {
    expect(cleanWords(words, 200)).toBe(clean)
  })

  it('end before their limit, and never within a character', () => {
    expect(cleanWords('x'.repeat(300), 200)).toBe(`${'x'.repeat(199)}…`)
    const clean = cleanWords(`${'x'.repeat(198)}😀😀`, 200)
    expect(clean).toBe(`${'x'.repeat(198)}…`)
    expect(clean.isWellFormed()).toBe(true)
  })
})
