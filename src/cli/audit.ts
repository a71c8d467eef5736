import { readFileSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import type { Finding, LintAssumptions, Severity } from '../audit/lint/finding.ts'
import { auditedConfig, parseLasting, parseRates } from './audited-config.ts'

interface AuditOptions {
  readonly out?: string
  readonly format?: 'html' | 'markdown'
  readonly callsPerMinute?: LintAssumptions['callsPerMinute']
  readonly usualRecovery?: number
  readonly verify?: string
  readonly failOn?: Severity
}

const help = `
Without a configuration: the presets and the plain default.
The report is one file that needs no network; it holds no secret: names, hosts, rules and numbers. The same rules give
the same report, byte for byte.

Exit codes: 0 = written, or verified; 1 = --verify found a difference, --fail-on found something, or the configuration
has faults.

Examples:
  switchgear audit gateway.yaml                              writes switchgear-audit.html
  switchgear audit gateway.yaml --calls-per-minute 200       the questions know the traffic
  switchgear audit gateway.yaml --format markdown --out -    to standard output
  switchgear audit gateway.yaml --verify switchgear-audit.html`

const SEVERITIES: readonly Severity[] = ['problem', 'warning', 'question']

/** `switchgear audit`: the rules as a report that can be read, questioned and signed. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('write the rules as a report that a product owner can read, question and sign')
    .argument('[config]', 'the configuration of a gateway, YAML or JSON')
    .option(
      '--out <file>',
      'where the report goes; - for standard output (default: switchgear-audit.html or .md)',
    )
    .addOption(
      new Option('--format <format>', 'default: by the name of the file, else html').choices([
        'html',
        'markdown',
      ]),
    )
    .option('--calls-per-minute <n>', 'calls that reach each target, or name=n,name=n', parseRates)
    .option(
      '--usual-recovery <time>',
      'how long outages usually last, such as 5m (default: 1m)',
      parseLasting,
    )
    .option('--verify <report>', 'say whether the rules and the report are still those that were signed')
    .addOption(
      new Option('--fail-on <severity>', 'exit code 1 where the linter finds one, or worse').choices(
        SEVERITIES,
      ),
    )
    .addHelpText('after', help)
    .action(async (config: string | undefined, options: AuditOptions, command: Command) => {
      const say = (text: string) => command.configureOutput().writeOut?.(`${text}\n`)
      if (options.verify !== undefined) return verify(config, options.verify, command, say)
      await write(config, options, say)
    })
}

function assumptionsOf({ callsPerMinute, usualRecovery }: AuditOptions): LintAssumptions {
  return {
    ...(callsPerMinute !== undefined && { callsPerMinute }),
    ...(usualRecovery !== undefined && { usualRecoveryMs: usualRecovery }),
  }
}

async function reportOn(config: string | undefined, assumptions: LintAssumptions) {
  const { buildReport } = await import('../audit/report/build-report.ts')
  const subject = await auditedConfig(config)
  const verifyCommand = `switchgear audit --verify REPORT${config === undefined ? '' : ` ${subject.name}`}`
  return buildReport({ ...subject, assumptions, verifyCommand })
}

async function write(
  config: string | undefined,
  options: AuditOptions,
  say: (text: string) => void,
): Promise<void> {
  const { renderReport } = await import('../audit/report/render-report.ts')
  const { shortHash } = await import('../audit/sign/signature.ts')
  const format = options.format ?? (/\.(?:md|markdown)$/.test(options.out ?? '') ? 'markdown' : 'html')
  const { document, findings, signature } = await reportOn(config, assumptionsOf(options))
  const out = options.out ?? `switchgear-audit.${format === 'html' ? 'html' : 'md'}`
  const text = renderReport(document, format)
  if (out === '-') say(text.trimEnd())
  else {
    writeFileSync(out, text)
    say(`${out} is written. What is signed has the hash ${shortHash(signature)}.`)
    say(inWords(findings))
  }
  const worst = SEVERITIES.slice(0, SEVERITIES.indexOf(options.failOn ?? 'problem') + 1)
  if (options.failOn !== undefined && findings.some(({ severity }) => worst.includes(severity)))
    process.exitCode = 1
}

function inWords(findings: readonly Finding[]): string {
  const counts = SEVERITIES.map((severity) => {
    const n = findings.filter((finding) => finding.severity === severity).length
    return `${n} ${severity}${n === 1 ? '' : 's'}`
  })
  const told = findings
    .filter(({ severity }) => severity !== 'question')
    .map(({ severity, where, text }) => `  ${severity}: ${where}: ${text}`)
  return [`A reviewer should ask about ${counts.join(', ')}${told.length > 0 ? ':' : '.'}`, ...told].join(
    '\n',
  )
}

async function verify(
  config: string | undefined,
  file: string,
  command: Command,
  say: (text: string) => void,
): Promise<void> {
  const { compare, shortHash, signatureIn } = await import('../audit/sign/signature.ts')
  const { formatOf, renderReport } = await import('../audit/report/render-report.ts')
  const report = readReport(file, command)
  const signed = signatureIn(report)
  if (signed === undefined)
    return command.error(
      `error: ${file}: this is no report of switchgear audit, or its signature was taken out.`,
    )
  const now = await reportOn(config, signed.assumptions as LintAssumptions)
  const { same, differences } = compare(signed, now.signature)
  if (same && renderReport(now.document, formatOf(report)) === report) {
    return say(
      `Same: the rules in force are those that were signed (${shortHash(signed)}), and the report is as it was written.`,
    )
  }
  process.exitCode = 1
  if (same)
    return say(
      `Different: the rules in force are those of the signature (${shortHash(signed)}), but the text of the report is another: it was edited, or written for a file of another name or by another version.`,
    )
  say(
    `Different: what was signed (${shortHash(signed)}) is not what is in force (${shortHash(now.signature)}).`,
  )
  for (const difference of differences) say(`  ${difference}`)
}

function readReport(file: string, command: Command): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return command.error(`error: ${file}: cannot be read.`)
  }
}
