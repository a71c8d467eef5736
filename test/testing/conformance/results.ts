import { conformanceTable } from '../../../src/testing/conformance/conformance-table.ts'
import type { ConformanceRun } from '../../../src/testing/conformance/conformance-table.ts'
import type { ConformanceResult } from '../../../src/testing/conformance/conformance.ts'

const line = ({ id, reason = '' }: ConformanceResult) => `- \`${id}\`: ${reason}`

/** Everything of one verdict under a heading; what is not asked for one reason stands together. */
function part(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n### ${title}\n\n${lines.join('\n')}\n`
}

function section({ adapter: { name, version }, results }: ConformanceRun): string {
  const of = (verdict: ConformanceResult['verdict']) => results.filter((each) => each.verdict === verdict)
  const declined = Map.groupBy(of('cannot be asked'), ({ reason = '' }) => reason)
  const notAsked = [...declined].map(
    ([reason, list]) => `- ${reason}: ${list.map(({ id }) => `\`${id}\``).join(', ')}`,
  )
  return `\n## ${name} ${version}\n${part('fails', of('fails').map(line))}${part('is not asked', notAsked)}`
}

/** The whole result as Markdown. */
export function resultsText(runs: readonly ConformanceRun[]): string {
  return `# Which circuit breaker survives what

Written by \`npx vitest run test/testing/conformance -u\`; without \`-u\` the same command checks it.

A scenario is a file of [test/scenarios/breaker](../../scenarios/breaker), a symptom that users of some breaker have reported. *Every step* is what can happen in each state of our statechart, as far as the breaker can be driven there. A breaker is judged by whom it lets in, and never by what it calls its states; a caller that is made to wait is not let in. Each is set up with the nearest that it has to the rules of the question: its file in [adapters](adapters) says how. What it does not offer, or documents otherwise, it is not asked.

\`✓ 3/3\` and \`✗ 1/3\`: survived, of what could be asked. \`–\`: nothing could.

${conformanceTable(runs)}${runs.map(section).join('')}`
}
