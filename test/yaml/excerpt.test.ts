import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excerpt } from '../../src/yaml/excerpt.ts'
import { YamlFile } from '../../src/yaml/yaml-file.ts'
import { mutations, plain, secretsOfPlain } from './mutations.ts'

const shown = (text: string) => new YamlFile(text).faults.map((fault) => `${fault.text}\n${fault.excerpt}`)

describe('the line of a fault', () => {
  it('stands below it, with a mark', () => {
    expect(excerpt(['server:', '  port 4000', '  host: x'], 2, 3)).toBe('  2 |   port 4000\n    |   ^')
  })

  it('is marked where something stands behind what is hidden', () => {
    const line = '  - { name: a, baseUrl: https://llm.example.com/v1, port 4000 }'
    const [text = '', mark = ''] = excerpt(Array(119).fill('x').concat(line), 120, 53).split('\n')
    expect(text).toBe('  120 |   - { name: a, baseUrl: …, port 4000 }')
    expect(text[mark.indexOf('^')]).toBe('p')
  })

  it('is cut around the mark where it is long', () => {
    const [text = '', mark = ''] = excerpt([`${'a: b, '.repeat(100)}here: x`], 1, 601).split('\n')
    expect(text.length).toBeLessThan(120)
    expect(text.slice(mark.indexOf('^'))).toBe('here: x')
  })

  it('shows tabs, and no other control character', () => {
    expect(excerpt(['\ta: \u001B[31mx'], 1, 1)).toBe('  1 | →a: \uFFFD[31mx\n    | ^')
  })
})

describe('what could be a secret', () => {
  it.each([
    ['apiKey sk-1234', 'apiKey …'],
    ['apiKey:sk-1', 'apiKey:…'],
    ['secret: "whsec_abc', 'secret: "…'],
    ['clientKeys: { a: x1, b y2 }', 'clientKeys: { a: …, … … }'],
    ['baseUrl: https://me:pw@host/v1', 'baseUrl: …'],
    ['note: hunter2-hunter2-hunter2', 'note: …'],
    ['hunter2-hunter2-hunter2', '…'],
    ['hunter2hunter2: 1', '…: 1'],
    ['a: b # sk-1234567', 'a: b #…'],
    ['circuitBreaker', 'circuitBreaker'],
  ])('is hidden: %s', (line, told) => {
    expect(excerpt([line], 1, 1).split('\n')[0]).toBe(`  1 | ${told}`)
  })

  it('is not what stands for one', () => {
    expect(excerpt(['apiKey: "${KEY}'], 1, 1).split('\n')[0]).toBe('  1 | apiKey: "${KEY}')
  })

  it.each([
    ['below its key', ['apiKey: |', '  correct horse'], '  …'],
    ['below the key of a list entry', ['- apiKey: |', '    correct horse'], '    …'],
    ['on the next line of JSON', ['{"apiKey":', '"abc"}'], '…'],
    ['below a mapping of them', ['tokens:', '  alice abc'], '  … …'],
    ['further below', ['headers:', '  x: 1', '  y abc: d'], '  … abc: …'],
  ])('is hidden %s', (_, lines, told) => {
    expect(excerpt(lines, lines.length, 1).split('\n')[0]).toBe(`  ${lines.length} | ${told}`)
  })

  it('is in no fault of a file with one slip', () => {
    const told = mutations.flatMap(({ text }) => shown(text)).join('\n')
    expect(told.length).toBeGreaterThan(10_000)
    for (const secret of secretsOfPlain) expect(told).not.toContain(secret)
  })

  it('is in no fault of a file with anything put anywhere, twice', () => {
    const place = fc.nat(plain.length)
    const piece = fc.constantFrom(
      '"',
      "'",
      '[',
      '{',
      '}',
      '\n',
      '\t',
      ': ',
      ' ',
      '#',
      '@',
      '|',
      '- ',
      ',',
      '',
    )
    fc.assert(
      fc.property(place, piece, place, piece, (first, one, second, other) => {
        const [low, high] = [Math.min(first, second), Math.max(first, second)]
        const text = plain.slice(0, low) + one + plain.slice(low, high) + other + plain.slice(high)
        const told = shown(text).join('\n')
        // what was put in may cut one
        for (const secret of [
          'key-of-team-b',
          'token-of-',
          'sk-openai-',
          'sk-ant-',
          'sk-own-',
          'secretpath',
          'MDEyMzQ1Nj',
          'RlZjAxMjM0NTY3',
        ])
          expect(told).not.toContain(secret)
      }),
      { numRuns: 60 },
    )
  })
})
