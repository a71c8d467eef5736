import { Command, InvalidArgumentError, Option } from 'commander'
import type { PathFormat } from '../audit/paths/format-paths.ts'
import { listed } from '../audit/words.ts'
import { auditedConfig } from './audited-config.ts'
import { showWork } from './progress.ts'
import { outputTo } from './write-output.ts'

interface PathsOptions {
  readonly format: PathFormat
  readonly out?: string
  readonly most?: number
}

const ENDINGS = { vitest: ['.test.ts'], json: ['.json'], gherkin: ['.feature'] } as const

const help = `
Without a configuration: the presets and the plain default. Every path is a whole life of a circuit: it takes one step
that no other takes, on the shortest way there. Where the paths are too many, or cannot all be walked, every sort of
step is taken once; the output says which of the two it is, and within which bounds.

Examples:
  switchgear paths gateway.yaml --out test/circuits.test.ts
  switchgear paths gateway.yaml --format gherkin --out circuits.feature
  switchgear paths --format json | jq '.[].cover'`

/** `switchgear paths`: everything that can happen to the circuits of a configuration, as tests or as text. */
export function pathsCommand(): Command {
  return new Command('paths')
    .description('write everything that can happen to the circuits of a configuration as tests or as text')
    .argument('[config]', 'the configuration of a gateway, YAML or JSON')
    .addOption(
      new Option('--format <format>', 'what is written')
        .choices(['vitest', 'json', 'gherkin'])
        .default('vitest'),
    )
    .option('--out <file>', 'where it goes (default: standard output)')
    .option('--most <n>', 'paths of one circuit above which a sample is taken (default: 500)', parseMost)
    .addHelpText('after', help)
    .action(async (config: string | undefined, { format, out, most }: PathsOptions, command: Command) => {
      const write =
        out === undefined ? undefined : outputTo(out, { inputs: [config], endings: ENDINGS[format] })
      const { coverText, formatPaths } = await import('../audit/paths/format-paths.ts')
      const { policyPaths } = await import('../audit/paths/policy-paths.ts')
      const { policiesOf } = await import('../audit/audited.ts')
      const { audited } = await auditedConfig(config)
      const policies = policiesOf(audited)
      const all = policies.map(({ rules, targets: behind }, i) => {
        const targets = behind.map(({ name }) => name)
        showWork(`Exploring the circuits of ${listed(targets)} (${i + 1} of ${policies.length}) …`)
        return { targets, found: policyPaths(rules, most) }
      })
      showWork('')
      const text = formatPaths(all, format)
      const say = (line: string) => command.configureOutput().writeOut?.(`${line}\n`)
      if (write === undefined) return say(text.trimEnd())
      write(text)
      say(`${out} is written.\n${coverText(all)}`)
    })
}

function parseMost(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of paths, 1 to 9999999.')
}
