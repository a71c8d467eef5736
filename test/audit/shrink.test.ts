import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { shrink } from '../../src/audit/shrink/shrink.ts'
import { scenarioText } from '../../src/audit/shrink/story-yaml.ts'
import { checkCommand } from '../../src/cli/check.ts'
import { shrinkCommand } from '../../src/cli/shrink.ts'
import { shrinkRecording } from '../../src/cli/shrink-recording.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults } from '../../src/core/presets.ts'
import type { RecordedRow, TransitionRow } from '../../src/stores/outcome-row.ts'
import { isTransition } from '../../src/stores/outcome-row.ts'
import { asText, recordedRows } from './recorded.ts'

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shrink-'))
  file = join(dir, 'outcomes.jsonl')
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
})

const outage = (call: number) => (call >= 200 && call < 320 ? 0.8 : 0.01)

/** Records, and answers with every change of state. */
function record(rows: readonly RecordedRow[]): TransitionRow[] {
  writeFileSync(file, asText(rows))
  return rows.filter(isTransition)
}

interface Small {
  readonly breaker: CircuitBreakerOptions
  readonly random?: readonly number[]
  readonly steps: readonly Record<string, unknown>[]
}

async function shrunk(at: number): Promise<Small> {
  const { text } = await shrinkRecording({ outcomes: file, at })
  return parse(text) as Small
}

describe('shrinking', () => {
  it('leaves of a trip the failures that it takes', async () => {
    const [trip] = record(recordedRows({ threshold: 5, cooldownMs: 20_000 }, { ratio: outage }))
    expect(await shrunk(trip!.at)).toMatchObject({
      breaker: { cooldownMs: 20_000 },
      steps: [{ calls: { outcome: 'fail', times: 5, failure: 'server_error' }, expect: 'open' }],
    })
  })

  it('leaves of a window as few calls as it takes', async () => {
    const rolling = { kind: 'rolling', windowMs: 60_000, minCalls: 10, failureRatio: 0.5 } as const
    const [trip] = record(recordedRows({ tripping: rolling }, { ratio: outage }))
    const { breaker, steps } = await shrunk(trip!.at)
    expect(breaker).toEqual({ tripping: rolling })
    const calls = steps.map(({ calls }) => calls as { outcome: string; times: number })
    expect(calls.reduce((sum, { times }) => sum + times, 0)).toBe(10)
  })

  it('keeps the failure kind where it matters, and only there', async () => {
    const rules: CircuitBreakerOptions = { threshold: 50, kinds: { overloaded: { threshold: 2 } } }
    const [trip] = record(recordedRows(rules, { ratio: outage }))
    expect((await shrunk(trip!.at)).steps).toEqual([
      { calls: { outcome: 'fail', times: 2, failure: 'overloaded' }, expect: 'open' },
    ])
  })

  it('keeps the time that has to pass', async () => {
    const changes = record(recordedRows({ threshold: 3, cooldownMs: 20_000 }, { ratio: outage }))
    const half = changes.find(({ to }) => to === 'half-open')!
    expect((await shrunk(half.at)).steps).toEqual([
      { calls: { outcome: 'fail', times: 3, failure: 'server_error' }, expect: 'open' },
      { at: 20_000, expect: 'half-open' },
    ])
    const closed = changes.find(({ to }) => to === 'closed')!
    const recovery = (await shrunk(closed.at)).steps
    expect(recovery.at(-1)).toEqual({
      at: expect.any(Number) as number,
      calls: { outcome: 'succeed', times: 1 },
      expect: 'closed',
    })
    expect(recovery.length).toBeLessThanOrEqual(3)
  })

  it('plays with the chance that was drawn', async () => {
    const rules: CircuitBreakerOptions = {
      threshold: 3,
      cooldownMs: 20_000,
      cooldownBackoff: { multiplier: 2, maxMs: 90_000 },
    }
    const changes = record(recordedRows(rules, { ratio: outage, seed: 4 }))
    const missed = changes.find(({ why }) => why === 'trial_missed')!
    const { steps } = await shrunk(missed.at)
    expect(steps.at(-1)).toMatchObject({ expect: 'open' })
  })

  it.each(['tripped', 'cooldown_over', 'trial_missed', 'trial_met'])(
    'gives a scenario that passes for whatever the presets did: %s',
    async (why) => {
      const changes = record(recordedRows(llmDefaults, { ratio: outage, seed: 7, calls: 900 }))
      const change = changes.find((one) => one.why === why)!
      expect(change).toBeDefined()
      // it plays what it has written, and throws where that does not hold
      const { summary } = await shrinkRecording({ outcomes: file, at: change.at })
      expect(summary).toMatch(/cut down to \d+\.$/)
    },
  )

  it('says what of the recording could not be read', async () => {
    const [change] = record(recordedRows(llmDefaults, { ratio: outage, seed: 7, calls: 900 }))
    expect((await shrinkRecording({ outcomes: file, at: change!.at })).notes).toEqual([])
    appendFileSync(file, '{"at":"x"}\n{"at"\n')
    const { notes } = await shrinkRecording({ outcomes: file, at: change!.at })
    expect(notes).toEqual([
      expect.stringMatching(/^2 lines could not be read and are left out\. The first: .*:\d+ /),
    ])
  })

  it('holds whatever was recorded', async () => {
    const rules = fc.record({
      threshold: fc.integer({ min: 1, max: 6 }),
      cooldownMs: fc.constantFrom(0, 3000, 20_000),
      halfOpenProbes: fc.integer({ min: 1, max: 3 }),
    })
    const days = fc.record({
      seed: fc.nat(1000),
      latencyMs: fc.constantFrom(1, 700, 4000),
      ratio: fc.constantFrom(0.3, 0.6, 1),
    })
    await fc.assert(
      fc.asyncProperty(rules, days, fc.nat(1000), async (options, { seed, latencyMs, ratio }, pick) => {
        const changes = record(
          recordedRows(options, {
            seed,
            latencyMs,
            calls: 200,
            ratio: (call) => (call > 20 && call < 120 ? ratio : 0),
          }),
        )
        fc.pre(changes.length > 0)
        const { text } = await shrinkRecording({ outcomes: file, at: changes[pick % changes.length]!.at })
        expect(text).toContain('kind: breaker')
      }),
      { numRuns: 40 },
    )
  })

  it('says what it cannot do', async () => {
    record(recordedRows({ threshold: 3 }, { ratio: () => 0 }))
    await expect(shrinkRecording({ outcomes: file, at: 0 })).rejects.toThrow(
      "The circuit 'openai' never changed its state",
    )

    const rows = recordedRows({ threshold: 3 }, { ratio: outage })
    const [trip] = record(rows)
    const policy = join(dir, 'other.yaml')
    writeFileSync(policy, 'threshold: 100\n')
    await expect(shrinkRecording({ outcomes: file, at: trip!.at, policy })).rejects.toThrow(
      /closed → open \(tripped\) at .*; played again under these rules it comes to no change of state\. Were other rules in force/,
    )

    writeFileSync(policy, 'treshold: 100\n')
    await expect(shrinkRecording({ outcomes: file, at: trip!.at, policy })).rejects.toMatchObject({
      message: `${policy}:1 Unknown option treshold. Did you mean 'threshold'?`,
      hint: "Did you mean 'threshold'?",
    })

    record(rows.map((row) => (isTransition(row) && row === trip ? { ...row, why: 'operator' } : row)))
    await expect(shrinkRecording({ outcomes: file, at: trip!.at })).rejects.toThrow("an operator's doing")

    record(rows.filter((row) => !('rules' in row)))
    await expect(shrinkRecording({ outcomes: file, at: trip!.at })).rejects.toThrow(
      'Give them with --policy.',
    )
  })

  it('says nothing of rules that are as usual', async () => {
    const [trip] = record(recordedRows({}, { ratio: outage }))
    const { text } = await shrinkRecording({ outcomes: file, at: trip!.at })
    expect(text).toContain('\nbreaker: {}\n')
  })

  it.each([0, 5, 30, 60, 100])('takes the circuit that opened, %i s into its outage', async (seconds) => {
    const rules: CircuitBreakerOptions = { threshold: 3, cooldownMs: 20_000 }
    const primary = recordedRows(rules, { circuit: 'primary', ratio: outage })
    const backup = recordedRows(rules, { circuit: 'backup', ratio: () => 0, everyMs: 100, calls: 6000 })
    record([...primary, ...backup])
    const at = primary.find(isTransition)!.at + seconds * 1000
    const { text } = await shrinkRecording({ outcomes: file, at })
    expect(text).toContain('name: "primary: ')
    // the same by the rules alone, where no change was recorded
    record([...primary, ...backup].filter((row) => !isTransition(row)))
    expect((await shrinkRecording({ outcomes: file, at })).text).toContain('name: "primary: ')
    const policy = join(dir, 'policy.yaml')
    writeFileSync(
      policy,
      'targets:\n  - { name: primary, baseUrl: https://a.example, circuitBreaker: { threshold: 3, cooldownMs: 20000 } }\n',
    )
    expect((await shrinkRecording({ outcomes: file, at, policy })).text).toContain('name: "primary: ')
  })

  it('says that no circuit of several ever changed', async () => {
    const quiet = { ratio: () => 0 }
    record([
      ...recordedRows({ threshold: 3 }, { circuit: 'primary', ...quiet }),
      ...recordedRows({ threshold: 3 }, { circuit: 'backup', ...quiet }),
    ])
    await expect(shrinkRecording({ outcomes: file, at: 0 })).rejects.toThrow(
      "None of the circuits 'primary' and 'backup' changed its state in this recording.",
    )
  })

  it('writes no failure kind on a success', () => {
    const visits = [
      { at: 0, ms: 0, outcome: 'failure', failure: 'timeout', retryAfterMs: 7 },
      { at: 1, ms: 0, outcome: 'failure', failure: 'timeout', retryAfterMs: 7 },
      { at: 2, ms: 0, outcome: 'failure', failure: 'timeout', retryAfterMs: 7 },
    ] as const
    const rules: CircuitBreakerOptions = {
      tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 3, failureRatio: 0.6 },
    }
    const story = { visits, commands: [], until: 2, random: [0.5] }
    const small = shrink(story, { from: 'closed', to: 'open', why: 'tripped' }, rules)
    expect(small.visits).toContainEqual({ at: 0, ms: 0, outcome: 'success' })
    expect(scenarioText(small, { name: 'a', why: 'b' }, rules)).not.toMatch(/succeed\n(.*\n)?.*failure:/)
  })

  it('finds the changes itself where none were recorded', async () => {
    const rows = recordedRows({ threshold: 4 }, { ratio: outage })
    const [trip] = record(rows)
    record(rows.filter((row) => !isTransition(row)))
    expect((await shrunk(trip!.at)).steps).toEqual([
      { calls: { outcome: 'fail', times: 4, failure: 'server_error' }, expect: 'open' },
    ])
  })
})

describe('switchgear shrink', () => {
  it('writes a scenario that switchgear check passes', async () => {
    const [trip] = record(recordedRows(llmDefaults, { ratio: outage }))
    const scenario = join(dir, 'small.yaml')
    let out = ''
    const output = { writeOut: (text: string) => (out += text), writeErr: () => {} }
    const args = ['--outcomes', file, '--at', new Date(trip!.at).toISOString(), '--out', scenario]
    await shrinkCommand().configureOutput(output).parseAsync(args, { from: 'user' })
    await checkCommand().configureOutput(output).parseAsync([scenario], { from: 'user' })
    expect(out).toContain('1 passed, 0 failed')
    expect(process.exitCode).toBeUndefined()
    expect(readFileSync(scenario, 'utf8')).toContain('name: "openai: closed → open, 2024-05-06')
  })

  it('prints it where no file is named', async () => {
    const [trip] = record(recordedRows({ threshold: 2 }, { ratio: outage }))
    let out = ''
    const args = ['--outcomes', file, '--at', new Date(trip!.at).toISOString()]
    await shrinkCommand()
      .configureOutput({ writeOut: (text) => (out += text) })
      .parseAsync(args, { from: 'user' })
    expect(out).toBe(`kind: breaker
name: "openai: closed → open, ${new Date(trip!.at).toISOString().slice(0, 19).replace('T', ' ')} UTC"
why: ${/why: (.*)/.exec(out)![1]}
breaker:
  threshold: 2
steps:
  - calls:
      outcome: fail
      times: 2
      failure: server_error
    expect: open
`)
  })
})
