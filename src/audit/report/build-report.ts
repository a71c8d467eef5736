import { policiesOf } from '../audited.ts'
import type { Audited } from '../audited.ts'
import type { Finding, LintAssumptions, Severity } from '../lint/finding.ts'
import { lintPolicies } from '../lint/lint-policies.ts'
import { packageVersion } from '../../telemetry/package-version.ts'
import { asFact } from '../sign/facts.ts'
import { embedded, shortHash, sign } from '../sign/signature.ts'
import type { Signature } from '../sign/signature.ts'
import { USUAL_FAILURES } from '../mistakes.ts'
import { grouped, lasting, listed, percent, plural } from '../words.ts'
import { chainPart } from './chain-part.ts'
import { failures, signOff } from './closing-parts.ts'
import { protection } from './protection-part.ts'
import type { Block, Figure, ReportDocument } from './document.ts'
import { inShort, policyPart } from './policy-part.ts'
import type { NamedPolicy, PolicyPart } from './policy-part.ts'
import { forUsers } from './for-users.ts'
import { trafficOf } from './traffic.ts'

/** What a report is made from. */
export interface ReportInput {
  /** How the rules are called: a file, or a word. */
  readonly name: string
  readonly audited: Audited
  readonly assumptions?: LintAssumptions
  /** Words to run the check of the signature again. */
  readonly verifyCommand: string
  /** The version that puts it into words. Default: that of this package. */
  readonly version?: string
}

export interface Report {
  readonly document: ReportDocument
  readonly signature: Signature
  readonly findings: readonly Finding[]
}

/** Everything there is to know about the rules of a switchgear. The same rules give the same report, byte for byte. */
export async function buildReport({
  name,
  audited,
  assumptions = {},
  verifyCommand,
  version = packageVersion(),
}: ReportInput): Promise<Report> {
  const findings = lintPolicies(audited, assumptions)
  const signature = sign(audited)
  const policies = namedPolicies(audited)
  const traffic = (policy: NamedPolicy) => trafficOf(policy, assumptions)
  const parts: PolicyPart[] = []
  for (const policy of policies) parts.push(await policyPart(policy, traffic(policy)))
  const annex = [...parts.flatMap(({ annex }) => annex), ...(await chainPart(audited))]
  const blocks: Block[] = [
    ...glance(audited, policies, findings, parts),
    ...forUsers(audited, policies, traffic),
    ...questions(findings, assumptions),
    ...parts.flatMap(({ blocks }) => blocks),
    ...protection(audited, policies),
    ...failures(),
    ...signOff(audited, signature, { verifyCommand, version, assumptions: assumed(assumptions) }),
    ...annex.map((block, i) =>
      i === 0 && block.kind === 'heading' ? { ...block, beginsAnnex: true } : block,
    ),
  ]
  return {
    findings,
    signature,
    document: {
      title: `Audit of ${name}`,
      lead: `When calls are refused, for how long, who decides, and what brings them back: every rule of the circuit breakers, put into words, computed from its numbers and checked against the machine that runs. The first part, up to the sign-off, is what is signed; the annex shows what it rests on. Written by switchgear ${version}.`,
      blocks,
      foot: `Audit of ${name} · ${shortHash(signature)} · switchgear ${version}`,
      signature: embedded(signature),
      seal: { name, version, assumptions: asFact(assumptions) },
    },
  }
}

/** A set of rules is called by its targets; of many, by a letter. */
function namedPolicies(audited: Audited): NamedPolicy[] {
  const policies = policiesOf(audited)
  return policies.map((policy, i) => {
    const names = policy.targets.map(({ name }) => name)
    const name = names.length <= 2 ? listed(names) : `${names[0]} and ${names.length - 1} others`
    return { ...policy, name: policies.length === 1 ? 'every circuit' : name, id: `rules-${i + 1}` }
  })
}

const count = (findings: readonly Finding[], severity: Severity) =>
  findings.filter((finding) => finding.severity === severity).length

function glance(
  audited: Audited,
  policies: readonly NamedPolicy[],
  findings: readonly Finding[],
  parts: readonly PolicyPart[],
): Block[] {
  const circuits = new Set(
    audited.targets.filter(({ rules }) => rules !== undefined).map(({ bucket }) => bucket),
  )
  const bare = audited.targets.filter(({ rules }) => rules === undefined).map(({ name }) => name)
  const [problems, warnings, asked] = [
    count(findings, 'problem'),
    count(findings, 'warning'),
    count(findings, 'question'),
  ]
  const steps = parts.reduce((sum, { exploration }) => sum + (exploration?.edges ?? 0), 0)
  const broken = parts
    .flatMap(({ exploration }) => exploration?.invariants ?? [])
    .filter(({ broken }) => broken > 0)
  const figures: Figure[] = [
    { value: String(audited.targets.length), label: audited.targets.length === 1 ? 'target' : 'targets' },
    { value: String(circuits.size), label: circuits.size === 1 ? 'circuit' : 'circuits' },
    {
      value: String(problems),
      label: problems === 1 ? 'problem' : 'problems',
      tone: problems > 0 ? 'bad' : 'good',
    },
    {
      value: String(warnings),
      label: warnings === 1 ? 'warning' : 'warnings',
      tone: warnings > 0 ? 'watch' : 'good',
    },
    { value: String(asked), label: asked === 1 ? 'open question' : 'open questions' },
    {
      value: grouped(steps),
      label:
        broken.length === 0
          ? 'steps checked, no rule broken'
          : `steps checked, ${plural(broken.length, 'rule')} broken`,
      tone: broken.length === 0 ? 'good' : 'bad',
    },
  ]
  return [
    { kind: 'heading', level: 2, id: 'glance', text: 'At a glance' },
    { kind: 'figures', figures },
    {
      kind: 'text',
      text: 'A circuit breaker watches one target. **Closed**: calls flow. **Open**: calls are refused at once, without a request, so that nobody waits for what is down. **Half-open**: a few calls try whether it is back.',
    },
    {
      kind: 'list',
      items: [
        ...policies.map((policy) => `**${policy.name}** ${inShort(policy)}.`),
        ...(bare.length === 0
          ? []
          : [`**${listed(bare)}** without a circuit breaker: nothing is ever refused.`]),
      ],
    },
  ]
}

/** What the configuration does not say, as it was said or taken. */
function assumed({
  callsPerMinute,
  usualRecoveryMs = 60_000,
  healthyFailures = USUAL_FAILURES,
}: LintAssumptions): string[] {
  const rate =
    callsPerMinute === undefined
      ? 'how many calls there are was not said (`--calls-per-minute`), and where a number depends on it, the report says what it takes instead'
      : typeof callsPerMinute === 'number'
        ? `${plural(callsPerMinute, 'call')} a minute for each target`
        : `calls a minute: ${Object.entries(callsPerMinute)
            .map(([name, rate]) => `${name} ${rate}`)
            .join(', ')}`
  return [
    rate,
    `an outage usually lasts ${lasting(usualRecoveryMs)} (\`--usual-recovery\`)`,
    `${percent(healthyFailures)} of the calls fail while a provider is healthy (\`--healthy-failures\`)`,
  ]
}

function questions(findings: readonly Finding[], assumptions: LintAssumptions): Block[] {
  return [
    { kind: 'heading', level: 2, id: 'questions', text: 'What a reviewer should ask' },
    {
      kind: 'text',
      text: `Assumed, because a configuration cannot say it: ${assumed(assumptions).join('; ')}.`,
    },
    ...findings.map(({ severity, where, text, reason, remedy, id }): Block => ({
      kind: 'finding',
      severity,
      title: `${where} · \`${id}\``,
      text,
      reason,
      remedy,
    })),
  ]
}
