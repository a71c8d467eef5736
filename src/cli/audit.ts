import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Command, Option } from 'commander'
import type { Finding, LintAssumptions, Severity } from '../audit/lint/finding.ts'
import { auditedConfig, parseLasting, parseRates, parseShare } from './audited-config.ts'
import { HTML, outputTo } from './write-output.ts'

interface AuditOptions {
  readonly out?: string
  readonly format?: 'html' | 'markdown'
  readonly callsPerMinute?: LintAssumptions['callsPerMinute']
  readonly usualRecovery?: number
  readonly healthyFailures?: number
  readonly verify?: string
  readonly failOn?: Severity
}

const help = `
Without a configuration: the presets and the plain default.
The report is one file that needs no network; it holds no secret: names, hosts, rules and numbers. The same rules give
the same report, byte for byte. Keys are not needed: a variable that is not set may stand where a key, a token or an
address of a webhook does.
What is assumed (calls a minute, usual recovery, healthy failures) is no part of what is signed.

Exit codes: 0 = written, or verified; 1 = --verify found a difference, --fail-on found something, or the configuration
has faults.

Examples:
  switchgear audit gateway.yaml                              writes switchgear-audit.html
  switchgear audit gateway.yaml --calls-per-minute 200       the questions know the traffic
  switchgear audit gateway.yaml --format markdown --out -    to standard output
  switchgear audit gateway.yaml --verify switchgear-audit.html`

const ENDINGS = [...HTML, '.md', '.markdown']

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
    .option(
      '--healthy-failures <share>',
      'calls that fail while a provider is healthy, such as 2% (default: 5%)',
      parseShare,
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

function assumptionsOf({ callsPerMinute, usualRecovery, healthyFailures }: AuditOptions): LintAssumptions {
  return {
    ...(callsPerMinute !== undefined && { callsPerMinute }),
    ...(usualRecovery !== undefined && { usualRecoveryMs: usualRecovery }),
    ...(healthyFailures !== undefined && { healthyFailures }),
  }
}

/** `called` = the name that the rules have in the report. Default: that of the file. */
async function reportOn(config: string | undefined, assumptions: LintAssumptions, called?: string) {
  const { buildReport } = await import('../audit/report/build-report.ts')
  const { name: file, audited } = await auditedConfig(config)
  const name = called ?? file
  const verifyCommand = `switchgear audit --verify REPORT${config === undefined ? '' : ` ${name}`}`
  return buildReport({ name, audited, assumptions, verifyCommand })
}

async function write(
  config: string | undefined,
  options: AuditOptions,
  say: (text: string) => void,
): Promise<void> {
  const { renderReport } = await import('../audit/report/render-report.ts')
  const { shortHash } = await import('../audit/sign/signature.ts')
  const format = options.format ?? (/\.(?:md|markdown)$/.test(options.out ?? '') ? 'markdown' : 'html')
  const out = options.out ?? `switchgear-audit.${format === 'html' ? 'html' : 'md'}`
  const keep = out === '-' ? undefined : outputTo(out, { inputs: [config], endings: ENDINGS })
  const { document, findings, signature } = await reportOn(config, assumptionsOf(options))
  const text = renderReport(document, format)
  if (keep === undefined) say(text.trimEnd())
  else {
    keep(text)
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
    .map(({ severity, where, text, remedy }) =>
      `  ${severity}: ${where}: ${text} ${remedy.replaceAll('`', '')}`.trimEnd(),
    )
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
  const { sealOf } = await import('../audit/sign/seal.ts')
  const { judgeText } = await import('../audit/sign/judge-text.ts')
  const { formatOf, renderReport } = await import('../audit/report/render-report.ts')
  const report = readReport(file, command)
  const signed = signatureIn(report)
  const found = sealOf(report)
  if (signed === undefined || found === undefined)
    return command.error(
      /switchgear-signature [A-Za-z0-9+/=]{100}/.test(report)
        ? `error: ${file}: this report was signed by another version, in a way that this one cannot compare. Write it anew, and compare the two.`
        : `error: ${file}: this is no report of switchgear audit, or its signature was taken out.`,
    )
  const { seal, isWhole } = found
  const now = await reportOn(config, seal.assumptions as LintAssumptions, seal.name)
  const { same, differences } = compare(signed, now.signature)
  const text = judgeText({
    seal,
    isWhole,
    was: report,
    is: renderReport(now.document, formatOf(report)),
    version: now.document.seal.version,
    sameRules: same,
  })
  if (!same || !text.isSound) process.exitCode = 1
  say(
    same
      ? `${text.isSound ? 'Same' : 'Different'}: the rules in force are those that were signed (${shortHash(signed)})${text.isSound ? '' : ', but the report is not as it was written'}.`
      : `Different: what was signed (${shortHash(signed)}) is not what is in force (${shortHash(now.signature)}).`,
  )
  for (const line of [...differences, ...text.told]) say(`  ${line}`)
  const other = config === undefined ? undefined : basename(config)
  if (other !== undefined && other !== seal.name)
    say(`  the report was written for ${seal.name}; what was compared is ${other}`)
}

function readReport(file: string, command: Command): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return command.error(`error: ${file}: cannot be read.`)
  }
}
