import { policiesOf } from '../audited.ts'
import type { Audited } from '../audited.ts'
import type { Finding, LintAssumptions, Severity } from '../lint/finding.ts'
import { lintPolicies } from '../lint/lint-policies.ts'
import { embedded, sign } from '../sign/signature.ts'
import { asFact } from '../sign/facts.ts'
import type { Signature } from '../sign/signature.ts'
import { lasting, listed, plural } from '../words.ts'
import { chainPart } from './chain-part.ts'
import { failures, signOff } from './closing-parts.ts'
import { protection } from './protection-part.ts'
import type { Block, Figure, ReportDocument } from './document.ts'
import { inShort, policyPart } from './policy-part.ts'
import type { NamedPolicy, PolicyPart } from './policy-part.ts'

/** What a report is made from. */
export interface ReportInput {
  /** How the rules are called: a file, or a word. */
  readonly name: string
  readonly audited: Audited
  readonly assumptions?: LintAssumptions
  /** Words to run the check of the signature again. */
  readonly verifyCommand: string
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
}: ReportInput): Promise<Report> {
  const findings = lintPolicies(audited, assumptions)
  const signature = sign(audited, asFact(assumptions))
  const policies = namedPolicies(audited)
  const parts: PolicyPart[] = []
  for (const policy of policies) parts.push(await policyPart(policy))
  const blocks: Block[] = [
    ...glance(audited, policies, findings, parts),
    ...questions(findings, assumptions),
    ...protection(audited, policies),
    ...parts.flatMap(({ blocks }) => blocks),
    ...(await chainPart()),
    ...failures(),
    ...signOff(audited, signature, verifyCommand),
  ]
  return {
    findings,
    signature,
    document: {
      title: `Audit of ${name}`,
      lead: 'When calls are refused, for how long, who decides, and what brings them back: every rule of the circuit breakers, put into words, computed from its numbers and checked against the machine that runs.',
      blocks,
      signature: embedded(signature),
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
      value: steps.toLocaleString('en').replaceAll(',', ' '),
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

function questions(
  findings: readonly Finding[],
  { callsPerMinute, usualRecoveryMs = 60_000 }: LintAssumptions,
): Block[] {
  const rate =
    callsPerMinute === undefined
      ? 'How many calls a minute there are was not said, so nothing that depends on it was checked (`--calls-per-minute`).'
      : typeof callsPerMinute === 'number'
        ? `Assumed: ${plural(callsPerMinute, 'call')} a minute for each target.`
        : `Assumed calls a minute: ${Object.entries(callsPerMinute)
            .map(([name, rate]) => `${name} ${rate}`)
            .join(', ')}.`
  return [
    { kind: 'heading', level: 2, id: 'questions', text: 'What a reviewer should ask' },
    { kind: 'text', text: `${rate} Outages were taken to last ${lasting(usualRecoveryMs)}.` },
    ...findings.map(({ severity, where, text, reason, id }): Block => ({
      kind: 'finding',
      severity,
      title: `${where} · \`${id}\``,
      text,
      reason,
    })),
  ]
}
