/** A configuration with a bit of everything, and a secret in every place. */
export const plain = `# a gateway
server:
  host: 127.0.0.1
  port: 4000
  clientKeys: { team-a: "\${TEAM_A}", team-b: key-of-team-b }
admin:
  tokens:
    alice: token-of-alice-0123
    bob: 'token-of-bob-012345'
providers:
  openai:
    baseUrl: https://api.openai.com/v1
    apiKey: sk-openai-0123456789
  anthropic:
    baseUrl: https://api.anthropic.com/v1
    apiKey: "sk-ant-0123456789"
    api: anthropic
    headers:
      anthropic-version: "2023-06-01"
defaults:
  timeoutMs: 20000
  circuitBreaker:
    threshold: 7
    cooldownMs: 10000
targets:
  - name: gpt-5
    provider: openai
    model: gpt-5
    drop: [logit_bias, user]
  - name: sonnet
    provider: anthropic
    circuitBreaker:
      threshold: 3
    model: claude-sonnet-4-5
  - { name: own, baseUrl: https://llm.example.com/v1, apiKey: sk-own-0123456789 }
models:
  gpt-5: { targets: [gpt-5], fallbacks: [own] }
  claude:
    targets:
      - sonnet
      - own
alerts:
  - url: https://hooks.example.com/T0/secretpath
    secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3
    on: [open, flapping]
`

/** What must never be shown of it, in pieces too short to be hidden by chance. */
export const secretsOfPlain: readonly string[] = [
  ...['key-of-t', 'oken-of-', '0123', '012345', 'sk-', 'whsec', 'MDEyMz', 'QyRlZjAx', 'secretpath', 'T0/sec'],
]

interface Mutation {
  readonly kind: string
  /** Where the slip is; of a line that stands twice, the second one. */
  readonly line: number
  readonly text: string
}

/** Every slip of one character, or of one line. */
export const mutations: readonly Mutation[] = slips(plain.split('\n'))

function slips(lines: readonly string[]): Mutation[] {
  return lines.flatMap((line, i) => {
    if (/^(?:#|$)/.test(line)) return []
    const slip = (kind: string, text: string) => ({ kind, line: i + 1, text: lines.with(i, text).join('\n') })
    const without = (kind: string, what: RegExp, after = 0) =>
      [...line.matchAll(what)].map(({ index }) =>
        slip(kind, line.slice(0, index + after) + line.slice(index + after + 1)),
      )
    return [
      ...without('colon', /:(?=\s|$)/g),
      ...without('space', /: /g, 1),
      ...without('bracket', /(?<!\$)[[{]|(?<!\w)[\]}]/g),
      ...without('comma', /,/g),
      ...without('dash', /- /g, 1),
      ...without('indentation', /^ /g),
      slip('indentation', ` ${line}`),
      ...(line.startsWith(' ') ? [slip('tab', `\t${line.trimStart()}`)] : []),
      ...(/^ *[\w-]+: ./.test(line)
        ? [{ kind: 'twice', line: i + 2, text: lines.toSpliced(i, 0, line).join('\n') }]
        : []),
    ]
  })
}
