import { Command } from 'commander'

import type { OutageReport } from '../gateway/demo-outage.ts'

/** `switchgear demo`: one outage end to end. Exit code 0 only if every promise was kept. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('play one outage end to end and tell what the circuit breaker saved')
    .addHelpText(
      'after',
      '\nIt starts its own providers and gateway on free ports, needs no keys and takes about 6 s.',
    )
    .action(async () => {
      const { playOutage, unmetConditions } = await import('../gateway/demo-outage.ts')
      const { transitionLine } = await import('../gateway/transition-line.ts')
      const say = (text: string) => void process.stdout.write(`${text}\n`)
      const report = await playOutage({
        onProgress: (what) => say(`· ${what}`),
        onTransition: (transition) => say(`  ${transitionLine(transition)}`),
      })
      say(
        `\nTimeline\n${report.transitions.map((transition) => `  ${transitionLine(transition, report.startedAt)}`).join('\n')}`,
      )
      say(`\nSummary\n${summary(report)}`)
      const unmet = unmetConditions(report)
      for (const condition of unmet) process.stderr.write(`error: ${condition}\n`)
      if (unmet.length > 0) process.exitCode = 1
    })
}

function summary({
  calls,
  answered,
  answeredBy,
  saved,
  detectMs,
  recoverMs,
  durationMs,
}: OutageReport): string {
  const by = Object.entries(answeredBy).map(([target, n]) => `${target} ${n}`)
  const ms = (value: number | undefined) => (value === undefined ? 'never' : `${value} ms`)
  return [
    `  calls answered         ${answered} of ${calls} (${by.join(', ')})`,
    `  upstream calls saved   ${saved}`,
    `  time to detect         ${ms(detectMs)} from the outage to the open circuit`,
    `  time to recover        ${ms(recoverMs)} from the end of the outage to the closed circuit`,
    `  duration               ${(durationMs / 1000).toFixed(1)} s`,
  ].join('\n')
}
