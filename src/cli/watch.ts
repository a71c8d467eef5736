import { setTimeout as delay } from 'node:timers/promises'

import { systemClock } from '../core/clock.ts'
import type { CircuitsReport, TransitionView } from '../gateway/admin/wire.ts'
import { circuitTable } from './circuit-table.ts'
import { shown, timeInWords } from './circuit-words.ts'
import { CommandFailed, EXIT } from './connection.ts'
import { durationInWords } from './duration.ts'
import type { Hands } from './operate.ts'

const RETRY_MS = 2000
const MOST_TRANSITIONS = 8
const CLEAR = '\u001b[H\u001b[2J'

interface WatchOptions {
  readonly json: boolean
  readonly all: boolean
}

/** Shows the circuits as they change, until the process ends; a lost gateway is waited for. */
export async function watchCircuits(hands: Hands, options: WatchOptions, isTTY: boolean): Promise<void> {
  const show = options.json ? asJson(hands) : isTTY ? asScreen(hands, options) : asLines(hands, options)
  let connected = false
  for (;;) {
    try {
      for await (const { event, data } of hands.client.events()) {
        connected = true
        show(event, data)
      }
      hands.remark('The gateway has ended the connection; trying again …')
    } catch (error) {
      const lost = error instanceof CommandFailed && error.exitCode === EXIT.unreachable
      if (!lost || !connected) throw error
      hands.remark(`${error.message} Trying again …`)
    }
    await delay(RETRY_MS)
  }
}

type Show = (event: string | undefined, data: string) => void

const asJson =
  ({ say }: Hands): Show =>
  (event, data) => {
    if (event !== undefined) say(JSON.stringify({ event, ...(JSON.parse(data) as object) }))
  }

/** The table once, then a line for each transition. */
function asLines(hands: Hands, { all }: WatchOptions): Show {
  let begun = false
  return (event, data) => {
    if (event === 'transition') hands.say(transitionLine(JSON.parse(data) as TransitionView))
    if (event !== 'circuits' || begun) return
    begun = true
    const report = JSON.parse(data) as CircuitsReport
    hands.say(`${circuitTable(report, { url: hands.client.url, paint: hands.paint, all })}\n`)
  }
}

/** The table over and over, with the latest transitions beneath. Comments of the gateway are its second hand. */
function asScreen(hands: Hands, { all }: WatchOptions): Show {
  const { paint, client, say } = hands
  let report: CircuitsReport | undefined
  let seenAt = 0
  const latest: string[] = []
  return (event, data) => {
    if (event === 'circuits') {
      report = JSON.parse(data) as CircuitsReport
      seenAt = systemClock.now()
    }
    if (event === 'transition') {
      latest.unshift(transitionLine(JSON.parse(data) as TransitionView))
      latest.length = Math.min(latest.length, MOST_TRANSITIONS)
    }
    if (report === undefined) return
    const now = report.now + systemClock.now() - seenAt
    const table = circuitTable({ ...report, now }, { url: client.url, paint, all })
    const news = latest.length === 0 ? '' : `\n\n${latest.join('\n')}`
    say(`${CLEAR}${table}${news}\n\n${paint('dim', 'Ctrl+C ends it')}`)
  }
}

/** `03:12:05  openai  closed → open: 5 failures in a row; next try in 30 s` */
function transitionLine({ circuit, from, to, at, why, openUntil, observed }: TransitionView): string {
  const next = openUntil === null ? '' : `; trial in ${durationInWords(Math.max(0, openUntil - at))}`
  return `${timeInWords(at)}  ${shown(circuit)}  ${from} → ${to}${observed ? ' (observed)' : ''}: ${shown(why)}${next}`
}
