import { describe, expect, it } from 'vitest'
import { YamlFile } from '../../src/yaml/yaml-file.ts'
import { mutations, plain } from './mutations.ts'

const told = (text: string) =>
  new YamlFile(text).faults.map(({ line, column, text: what }) => `${line}:${column} ${what}`)

describe('a file that is no YAML', () => {
  it.each([
    [
      'a key without its colon, over a list',
      'server:\n  port: 1\ntargets\n  - name: a\n    baseUrl: x\n  - name: b\n    baseUrl: y\nmodels:\n  m: [a]\n',
      "3:1 a colon is missing behind 'targets', write targets: and then its value",
    ],
    [
      'a key without its colon, before its value',
      'server:\n  port 4000\n  host: x\n',
      "2:3 a colon is missing behind 'port', write port: and then its value",
    ],
    [
      'the last key without its colon',
      'server:\n  host: x\n  port 4000\n',
      "3:3 a colon is missing behind 'port', write port: and then its value",
    ],
    [
      'a key of JSON without its colon',
      '{\n "port" 4000,\n "host": "x"\n}\n',
      "2:2 a colon is missing behind 'port', write port: and then its value",
    ],
    [
      'no space behind a colon',
      'server:\n  port:4000\n  host: x\n',
      '2:7 a space is missing behind the colon, write port: and a space before the value',
    ],
    [
      'no space behind a dash',
      'targets:\n  -name: a\n    baseUrl: x\n',
      '2:3 a space is missing behind the dash of a list entry, write "- " before it',
    ],
    [
      'a tab',
      'server:\n\thost: x\n\tport: 4000\n',
      '2:1 the line is indented with a tab, which YAML does not allow, use spaces, here and in 1 more line',
    ],
    [
      'a line too far in',
      'server:\n  host: x\n   port: 4000\n',
      "3:4 the line is indented by 3 spaces, deeper than 'host' in line 2, which has a value already, with 2 it stands beside it",
    ],
    [
      'a line not far enough in',
      'targets:\n  - name: a\n   baseUrl: x\n',
      "3:4 the line is indented by 3 spaces, which fits nothing above it, with 4 it stands beside 'name' in line 2",
    ],
    [
      'a line that the ones below do not follow',
      'targets:\n   - name: a\n    baseUrl: x\n    model: m\n  - name: b\n',
      '2:4 the line is indented by 3 spaces, which does not fit line 3 below it, with 2 it does',
    ],
    [
      'a quote that is not closed',
      'server:\n  host: "x\n  port: 4000\n',
      '2:9 this " is never closed, put another " behind the value',
    ],
    [
      'a quote that is closed by the next value',
      'targets:\n  - { name: "a, model: "b" }\n  - { name: c }\n',
      '2:13 this " is never closed, put another " behind the value',
    ],
    [
      'a quote within quotes',
      "why: 'it's'\nname: x\n",
      "1:10 the value ends at the ' before this, put quotes around all of it, and write '' for a ' within",
    ],
    [
      'a bracket that is not closed',
      'models:\n  x: [a, b\ntargets:\n  - name: a\n',
      '2:6 this [ is never closed, put a ] behind its last entry',
    ],
    [
      'one bracket within another that is not closed',
      'x: { a: [1, 2 }\ny: 2\n',
      '1:9 this [ is never closed, put a ] behind its last entry',
    ],
    [
      'a bracket that is not opened',
      'models:\n  x: { targets: a], fallbacks: [b] }\n',
      '2:18 no [ is open that this ] could close, put one where its entries begin, or take this out',
    ],
    ['no comma in a mapping', 'x: {a: 1 b: 2}\n', "1:10 a comma is missing before 'b'"],
    ['no comma in a list', 'x: ["a" "b"]\n', "1:9 a comma is missing before 'b'"],
    ['no comma in JSON', '{\n "a": 1\n "b": 2\n}\n', "2:8 a comma is missing before 'b'"],
    [
      'a colon within a value',
      'why: note: this\nname: x\n',
      '1:10 the value has a colon and a space in it, put quotes around the value',
    ],
    ['a sign at the beginning', 'a: @x\n', '1:4 a value cannot begin with @, put quotes around the value'],
    [
      'a bar with text behind it',
      'a: |x\n  y\n',
      '1:4 a value that begins with | goes on in the lines below it, put quotes around the value',
    ],
    [
      'a path of Windows',
      'file: "C:\\data"\n',
      String.raw`1:10 a \ within " " begins an escape, and there is none like this, write \\, or put ' ' around the value`,
    ],
    [
      'a variable within brackets',
      'targets: [{ apiKey: ${KEY}, name: ${NAME} }]\n',
      '1:21 put quotes around ${NAME} where it stands within { } or [ ]',
    ],
    ['a second document', 'a: 1\n---\nb: 2\n', '2:1 a second document begins here, put everything into one'],
    [
      'a key twice',
      'a: 1\nb: 2\na: 3\n',
      "3:1 the key 'a' stands here again, after line 1, keep one of them",
    ],
    [
      'a key twice on one line',
      'calls:\n  - { expect: 1, stream: [a], stream: [b] }\n',
      "2:31 the key 'stream' stands here again, after column 18, keep one of them",
    ],
  ])('with %s: is told once', (_, text, fault) => {
    expect(told(text)).toEqual([fault])
  })

  it.each([
    ['an alias of nothing', 'a: *b\n', /^1:4 a value that starts with \* stands for another one/],
    ['a tag', 'a: !b c\n', /^1:4 a value that starts with ! is a tag in YAML, put quotes around it$/],
    [
      'a key of a mapping in brackets without space',
      'server: { port:4000, host: x }\n',
      /^1:15 a space is missing behind the colon, write port: and a space before the value$/,
    ],
    [
      'a key of a mapping in brackets without colon',
      'server: { port 4000, host: x }\n',
      /^1:11 a colon is missing behind 'port', write port: and then its value$/,
    ],
    [
      'a key before a mapping without colon',
      'retry { baseMs: 50 }\n',
      /^1:1 a colon is missing behind 'retry', write retry: and then its value$/,
    ],
    [
      'half a pair of quotes',
      'host: x.example"\n',
      /^1:7 the value ends with a quote and does not begin with one/,
    ],
  ])('and what is YAML, but cannot be meant, such as %s: is told, too', (_, text, fault) => {
    expect(told(text)).toEqual([expect.stringMatching(fault)])
  })

  it('tells every fault of several, in their order', () => {
    expect(
      told('server:\n  port 4000\n  host: "x\ntargets:\n  - name:a\n    model: b\nx: 1\nx: 2\n'),
    ).toEqual([
      "2:3 a colon is missing behind 'port', write port: and then its value",
      '3:9 this " is never closed, put another " behind the value',
      '5:9 a space is missing behind the colon, write name: and a space before the value',
      "8:1 the key 'x' stands here again, after line 7, keep one of them",
    ])
  })

  it('says where it cannot go on, where no cause is a usual one', () => {
    expect(told('a: 1\n: : b\n{\n').at(-1)).toMatch(/^3:1 what begins here .*, look for a colon/)
  })

  it('does not guess in what is too long for it', () => {
    const text = `a b\nc: |\n${`  ${'x'.repeat(98)}\n`.repeat(2_500)}`
    expect(told(text)).toEqual([
      expect.stringMatching(
        /^1:1 what begins here goes on over several lines as if it were one key, look for a colon/,
      ),
    ])
  })

  it.each([
    '',
    'a: 1\n',
    '# nothing\n',
    '{"a": [1, 2]}',
    'llama3:8b\n',
    'x: [llama3:8b, "a": 1]\n',
    "why: the operators'\n",
  ])('finds nothing in %j', (text) => {
    expect(told(text)).toEqual([])
  })
})

const known = new Map<string, { faults: YamlFile['faults']; value: unknown }>()

function file(text: string) {
  const read = known.get(text) ?? readAnew(text)
  known.set(text, read)
  return read
}

function readAnew(text: string) {
  const yaml = new YamlFile(text)
  return { faults: yaml.faults, value: yaml.read().value }
}

describe('one slip of the hand', () => {
  const said: Readonly<Record<string, RegExp>> = {
    colon: /^a colon is missing behind/,
    space: /^a space is missing behind the colon/,
    bracket: /never closed|no [[{] is open/,
    comma: /^a comma is missing/,
    indentation: /^the line is indented by/,
    tab: /^the line is indented with a tab/,
    dash: /^a space is missing behind the dash/,
    twice: /stands here again/,
  }

  it.each(Object.keys(said))('%s: is one fault, and told as what it is, wherever in a file', (slip) => {
    const cases = mutations.filter(({ kind }) => kind === slip)
    expect(cases.length).toBeGreaterThan(5)
    for (const { text, line } of cases) {
      const { faults } = file(text)
      // an only entry without its colon is a text, and no fault of the syntax
      if (faults.length === 0) continue
      const where = text.split('\n').slice(0, line).join('\n')
      expect([where, faults.map((fault) => fault.text)]).toEqual([
        where,
        [expect.stringMatching(said[slip]!)],
      ])
      if (slip !== 'indentation') expect([where, faults[0]?.line]).toEqual([where, line])
    }
  })

  it('is never passed over, but where an only entry is left', () => {
    const whole = JSON.stringify(new YamlFile(plain).read().value)
    const silent = mutations.filter(({ text }) => {
      const { faults, value } = file(text)
      return faults.length === 0 && JSON.stringify(value) !== whole
    })
    const lines = silent.map(({ text, line }) => text.split('\n')[line - 1]!.trim())
    expect(lines).toEqual(
      lines.filter((line) => /^(?:threshold|anthropic-version|targets)\b|^-|^(?:drop|on)/.test(line)),
    )
  })
})
