import { describe, expect, it } from 'vitest'
import { isSwitchgearError } from '../../src/core/errors.ts'
import { parseScenario } from '../../src/testing/scenario/parse.ts'
import { runScenario } from '../../src/testing/scenario/run-scenario.ts'

const run = (text: string) => runScenario(parseScenario(text))

function faultsOf(text: string): string[] {
  try {
    parseScenario(text, 'a.yaml')
    return []
  } catch (error) {
    expect(isSwitchgearError(error) && error.code).toBe('ERR_CONFIG')
    return (error as Error).message.split('\n')
  }
}

const breaker = (steps: string) =>
  `kind: breaker\nname: x\nbreaker: {threshold: 1, cooldownMs: 1000}\nsteps:\n${steps}`

const call = (calls: string, script = 'a: [{ok: fine}]') => `kind: call
name: x
switchgear:
  targets:
    - {name: a, model: m1, maxRetries: 0, circuitBreaker: {threshold: 1, cooldownMs: 1000}}
    - {name: b, model: m2, maxRetries: 0}
script: {${script}, b: [{ok: from-b}]}
calls:
${calls}`

describe('reading a scenario', () => {
  it.for([
    ['no YAML', 'kind: [', /^a\.yaml:1:7: this \[ is never closed/],
    [
      'a key given twice',
      'kind: call\nkind: call',
      /^a\.yaml:2:1: the key 'kind' stands here again, after line 1, keep one of them$/,
    ],
    ['a list', '- 1', /^a\.yaml:1 scenario: This is no scenario\./],
    ['nothing', '', /^a\.yaml:1 scenario: This is no scenario\./],
    ['no kind', 'name: x', /scenario: The key 'kind' is missing\. Add kind: breaker or kind: call\./],
    ['another kind', 'kind: braker\nname: x', /^a\.yaml:1 kind: This is 'braker'\. Did you mean 'breaker'\?/],
    ['no name', 'kind: breaker\nbreaker: {}\nthrows: RangeError', /The key 'name' is missing\. Add 'name'\./],
    [
      'neither steps nor throws',
      'kind: breaker\nname: x\nbreaker: {}',
      /steps: This is missing\. It must be a list of at least 1\./,
    ],
    [
      'steps beside throws',
      `${breaker('  - {admit: a}')}\nthrows: RangeError`,
      /^a\.yaml:4 steps: 'steps' stand beside 'throws'\./,
    ],
    [
      'an option of a breaker that is out of range',
      'kind: breaker\nname: x\nbreaker:\n  cooldownMs: 5\n  threshold: 0\nsteps: [{at: 0}]',
      /^a\.yaml:5 breaker\.threshold: This is 0; it must be an integer of at least 1, or Infinity\.$/,
    ],
    [
      'an option of a breaker that there is not',
      'kind: breaker\nname: x\nbreaker: {treshold: 1}\nsteps: [{at: 0}]',
      /^a\.yaml:3 breaker\.treshold: Unknown option treshold\. Did you mean 'threshold'\?$/,
    ],
    [
      'an option of a target that is out of range',
      'kind: call\nname: x\nswitchgear:\n  targets:\n    - name: a\n    - timeoutMs: -1\nscript: {a: [ok: hi]}\ncalls: [{at: 0}]',
      /^a\.yaml:6 switchgear\.targets\[1\]\.timeoutMs: This is -1; it must be a number greater than 0, or Infinity\.$/,
    ],
    [
      'two targets of one name',
      'kind: call\nname: x\nswitchgear:\n  targets: [{name: a}, {name: a}]\nscript: {a: [ok: hi]}\ncalls: [{at: 0}]',
      /^a\.yaml:4 switchgear\.targets: Two targets are called 'a'\. Give each a name of its own\.$/,
    ],
    [
      'an unknown key',
      breaker('  - {admt: a}'),
      /^a\.yaml:5 steps\[0\]\.admt: There is no key 'admt' here\. Did you mean 'admit'\?/,
    ],
    [
      'an unknown state',
      breaker('  - {expect: opne}'),
      /steps\[0\]\.expect: This is 'opne'\. Did you mean 'open'\?/,
    ],
    [
      'two verbs',
      breaker('  - {admit: a, reject: b}'),
      /steps\[0\]\.reject: 'reject' stands beside 'admit'\. Make two/,
    ],
    ['two times', breaker('  - {at: 1, advance: 2}'), /'advance' stands beside 'at'\./],
    [
      'an unknown permit',
      breaker('  - {succeed: a}'),
      /No permit 'a' was admitted before\. Admit it first: \{admit: a\}\./,
    ],
    [
      'time that goes back',
      breaker('  - {at: 5, admit: a}\n  - {at: 4, fail: a}'),
      /^a\.yaml:6 steps\[1\]\.at: 4 lies before 5/,
    ],
    [
      'a word that says nothing',
      breaker('  - {admit: a, reason: open}'),
      /'reason' says nothing here\. It belongs beside reject\./,
    ],
    [
      'a time that is none',
      breaker('  - {at: soon}'),
      /steps\[0\]\.at: This is 'soon'\. It must be a whole number of ms/,
    ],
    [
      'chance out of range',
      `random: [1]\n${breaker('  - {at: 0}')}`,
      /random\[0\]: This is 1\. It must be a number from 0 to below 1\./,
    ],
    ['no calls', 'kind: call\nname: x\nswitchgear: {targets: [{}]}\nscript: {}', /calls: This is missing/],
    [
      'no targets',
      'kind: call\nname: x\nswitchgear: {}\nscript: {}\ncalls: [{at: 0}]',
      /switchgear\.targets: This is missing/,
    ],
    [
      'an unknown target in the script',
      call('  - {at: 0}', 'c: [{ok: 1}]'),
      /^a\.yaml:7 script\.c: There is no target 'c'\. Known: a, b\./,
    ],
    [
      'an unknown target in an expectation',
      call('  - {at: 0, expect: {attempts: [backup], states: {primary: open}}}'),
      /calls\[0\]\.expect\.attempts\[0\]: There is no target 'backup'\. Known: a, b\./,
    ],
    [
      'an unknown target of a command',
      call('  - {at: 0, open: {target: primary}}'),
      /calls\[0\]\.open\.target: There is no/,
    ],
    [
      'an answer without a word',
      call('  - {at: 0}', 'a: [{afterMs: 5}]'),
      /script\.a\[0\]: Nothing is said here\. Give one of: ok,/,
    ],
    ['two answers in one', call('  - {at: 0}', 'a: [{ok: 1, hang: true}]'), /'hang' stands beside 'ok'\./],
    [
      'a good status',
      call('  - {at: 0}', 'a: [{status: 200}]'),
      /It must be an HTTP status from 300 to 599; a good answer/,
    ],
    [
      'a chunk of two parts',
      call('  - {at: 0}', 'a: [{stream: [{text: a, done: true}]}]'),
      /'done' stands beside 'text'\./,
    ],
    [
      'an abort before the start',
      call('  - {at: 5, abortAt: 4}'),
      /calls\[0\]\.abortAt: 4 lies before .* give aborted: true\./,
    ],
    [
      'a command with the words of a call',
      call('  - {at: 5, open: {}, model: m1}'),
      /'model' is about a call/,
    ],
    [
      'a command with the expectation of a call',
      call('  - {at: 5, open: {}, expect: {answer: 1}}'),
      /'answer' is about a call/,
    ],
    [
      'a call before its process',
      call('  - {at: 5, restart: {downMs: 10}}\n  - {at: 14}'),
      /calls\[1\]\.at: 14 lies before 15/,
    ],
  ] as const)('names %s', ([, text, fault]) => {
    expect(faultsOf(text)[0]).toMatch(fault)
  })

  it('names every fault, one a line, in order of the lines', () => {
    const faults = faultsOf(breaker('  - {fail: a}\n  - {admt: a}'))
    expect(faults.map((fault) => fault.split(' ', 2).join(' '))).toEqual([
      'a.yaml:5 steps[0].fail:',
      'a.yaml:6 steps[1].admt:',
    ])
  })

  it('gives path, line and hint of a single fault', () => {
    expect(() => parseScenario(breaker('  - {admt: a}'))).toThrow(
      expect.objectContaining({ path: 'steps[0].admt', line: 5, hint: "Did you mean 'admit'?" }),
    )
  })
})

describe('a breaker that is not as the scenario says', () => {
  it.for([
    ['{admit: a, expect: open}', "expected the state 'open', got 'closed'"],
    ['{reject: a}', "expected 'a' to be refused, got a permit"],
    ['{transitions: 1}', 'expected transitions 1, got 0'],
    ['{consecutiveFailures: 1}', 'expected consecutiveFailures 1, got 0'],
    ['{breakdown: {network: 1}}', 'expected the breakdown {"network":1}, got {}'],
    ['{canExecute: false}', 'expected canExecute false, got true'],
    ['{retryAfterMs: 5}', 'expected retryAfterMs 5, got 0'],
    ['{probes: {inFlight: 1}}', 'expected probes in flight 1, got 0'],
    [
      '{open: {ttlMs: 5}}',
      'expected the command to be taken, got ConfigError (ttlMs is given without hold. Add hold: true, or leave it out)',
    ],
  ] as const)('%s', async ([step, what]) => {
    expect(await run(breaker(`  - ${step}`))).toEqual({
      name: 'x',
      passed: false,
      failure: { step: 1, line: 5, what },
    })
  })

  it('is told by the first step that does not hold', async () => {
    const { failure } = await run(
      breaker('  - {admit: a}\n  - {fail: a, expect: open}\n  - {admit: b}\n  - {expect: closed}'),
    )
    expect(failure).toEqual({ step: 3, line: 7, what: "expected 'b' to be admitted, got a refusal (open)" })
  })

  it.for([
    ['{reject: b, reason: held}', "expected the reason 'held', got 'open'"],
    ['{reject: b, retryAfterMs: 5}', 'expected retryAfterMs 5, got 1000'],
    ['calls: {outcome: fail, times: 2}', 'expected call 1 of 2 to be admitted, got a refusal (open)'],
  ] as const)('open, %s', async ([step, what]) => {
    expect((await run(breaker(`  - {admit: a}\n  - {fail: a}\n  - ${step}`))).failure?.what).toBe(what)
  })

  it.for([
    ['{threshold: 0}\nthrows: ConfigError', /^expected ConfigError, got RangeError \(threshold is 0;/],
    [
      '{threshold: 1}\nthrows: RangeError',
      /^expected the options to be refused with RangeError, got no error$/,
    ],
  ] as const)('at construction: %s', async ([rest, what]) => {
    const { failure } = await run(`kind: breaker\nname: x\nbreaker: ${rest}`)
    expect(failure).toEqual({ step: 0, what: expect.stringMatching(what) })
  })

  it('draws the scripted values in order, the last one again and again', async () => {
    const text = `random: [0.5, 0.25]\n${breaker('').replace('1000}', '1000, cooldownBackoff: {multiplier: 1}}')}
  - {admit: a}
  - {fail: a}
  - {retryAfterMs: 500}
  - {advance: 500, admit: b}
  - {fail: b}
  - {retryAfterMs: 250}
  - {advance: 250, admit: c}
  - {fail: c}
  - {retryAfterMs: 250}`
    expect((await run(text)).failure).toBeUndefined()
  })
})

describe('a call that is not as the scenario says', () => {
  it.for([
    ['answer: other', "expected the answer 'other', got 'fine'"],
    ['error: {}', "expected an error, got the answer 'fine'"],
    ['ended: error', "expected the end 'error', got 'clean'"],
    ['attempts: [b]', 'expected attempts ["b"], got ["a"]'],
    ['models: [m2]', 'expected models ["m2"], got ["m1"]'],
    ['elapsedMs: 1', 'expected elapsedMs 1, got 0'],
    ['waitedMs: 1', 'expected waitedMs 1, got 0'],
    ['cancelled: 1', 'expected cancelled 1, got 0'],
    ['states: {a: open}', "expected the state of 'a' 'open', got 'closed'"],
    ['states: {b: closed}', "expected the state of 'b' 'closed', got null"],
    ['breakdown: {a: {network: 1}}', `expected the breakdown of 'a' {"network":1}, got {}`],
    ['retryAfterMs: 5', 'expected retryAfterMs 5, got 0'],
    ['retryAfterMs: {a: 5}', "expected retryAfterMs of 'a' 5, got 0"],
  ] as const)('%s', async ([expected, what]) => {
    const { failure } = await run(call(`  - {at: 0, expect: {${expected}}}`))
    expect(failure).toEqual({ step: 1, line: 9, what })
  })

  it.for([
    ['answer: fine', "expected the answer 'fine', got Error (400 no)"],
    ['error: {code: ECONNRESET}', "expected the error code 'ECONNRESET', got '400'"],
    ['error: {retryAfterMs: 5}', 'expected retryAfterMs of the error 5, got null'],
  ] as const)('failing, %s', async ([expected, what]) => {
    const script = 'a: [{status: 400, body: {error: {message: no}}}]'
    expect((await run(call(`  - {at: 0, expect: {${expected}}}`, script))).failure?.what).toBe(what)
  })

  it('in a text that was read', async () => {
    const { failure } = await run(call('  - {at: 0, stream: true, expect: {text: wine}}'))
    expect(failure?.what).toBe("expected the text 'wine', got 'fine'")
  })

  it('because the script has no answer', async () => {
    const { failure } = await run(call('  - {at: 0}').replace('a: [{ok: fine}], ', ''))
    expect(failure?.what).toBe("expected the script to answer for 'a', got no entry for it")
  })

  it('because it never ends', async () => {
    const text = call('  - {at: 0}', 'a: [{hang: true}]').replace(
      'maxRetries: 0,',
      'maxRetries: 0, timeoutMs: .inf,',
    )
    expect((await run(text)).failure?.what).toBe('expected the call to end, got a call that waits for ever')
  })

  it('in a command that is refused', async () => {
    const { failure } = await run(call('  - {at: 0, open: {ttlMs: 5}}'))
    expect(failure?.what).toMatch(/^expected the command to be taken, got ConfigError/)
  })

  it('is told of in the order of the file, whatever ended first', async () => {
    const calls = '  - {at: 0, expect: {answer: x}}\n  - {at: 0, expect: {answer: x}}'
    const { failure } = await run(call(calls, 'a: [{ok: slow, afterMs: 100}, {ok: fast}]'))
    expect(failure).toMatchObject({ step: 1, what: "expected the answer 'x', got 'slow'" })
  })
})

describe('the scripted provider of a scenario', () => {
  it('gives a stream in one piece to a call that does not stream', async () => {
    const stream = '{stream: [{preamble: started}, {text: fi}, {wait: 5}, {text: ne}, {done: true}]}'
    expect(
      (await run(call('  - {at: 0, expect: {answer: fine, elapsedMs: 5}}', `a: [${stream}]`))).failure,
    ).toBeUndefined()
  })

  it.for(['{error: {type: server_error}}', '{cut: true}'])('fails such a call on %s', async (end) => {
    const script = `a: [{stream: [{text: fi}, ${end}]}]`
    const { failure } = await run(call('  - {at: 0, expect: {answer: from-b, states: {a: open}}}', script))
    expect(failure).toBeUndefined()
  })

  it('streams a whole answer to a call that does', async () => {
    expect(
      (await run(call('  - {at: 0, stream: true, expect: {text: fine, ended: clean}}'))).failure,
    ).toBeUndefined()
  })

  it('opens a stream only after its wait', async () => {
    const script = 'a: [{stream: [{text: fine}, {done: true}], afterMs: 50}]'
    expect(
      (await run(call('  - {at: 0, stream: true, expect: {text: fine, elapsedMs: 50}}', script))).failure,
    ).toBeUndefined()
  })

  it('takes calls in any order of the file', async () => {
    const calls = '  - {at: 5, expect: {answer: second}}\n  - {at: 0, expect: {answer: first}}'
    expect((await run(call(calls, 'a: [{ok: first}, {ok: second}]'))).failure).toBeUndefined()
  })
})
