import type { Tally } from './crowd.ts'
import type { GatewayUnderSoak } from './gateway.ts'
import type { Inventory } from './inventory.ts'

/** Something that must hold at the end. */
export interface Promised {
  readonly promise: string
  readonly holds: boolean
  /** What was seen, in words. */
  readonly told: readonly string[]
}

/** All that was seen of one soak. */
export interface Seen {
  readonly tally: Tally
  readonly counters: ReturnType<GatewayUnderSoak['counters']>
  /** Requests that reached the scripted providers. */
  readonly received: number
  /** All requests, as `/metrics` has them. */
  readonly metered: number
  /** Events of the live stream of the admin API. */
  readonly events: number
  /** Before there was a gateway. */
  readonly before: Inventory
  /** Nobody asks any more, the providers have gone, the gateway is still there. */
  readonly quiet: Inventory
  /** The gateway has been closed. */
  readonly after: Inventory
  readonly complaints: readonly string[]
  /** Growth of the heap in MB a minute; undefined = the soak was too short to say. */
  readonly slope: number | undefined
}

// what the gateway itself holds while nothing happens, and what Node keeps of the last few requests
const AT_REST: Readonly<Record<string, number>> = {
  sockets: 20,
  requests: 5,
  responses: 5,
  signals: 30,
  timers: 50,
  // a client a connection of the upstream pools, at the peak
  emitters: Infinity,
}
const LEFT_OVER = 5
const MOST_GROWTH = 1

/** Everything that is promised, in the order in which it is told. */
export function promisesOf(seen: Seen): Promised[] {
  return [...clients(seen), ...counters(seen), ...leaks(seen)]
}

function clients({ tally }: Seen): Promised[] {
  const { complete, curtailed, error, left, broken, told, sent } = tally
  const completed = complete.called + complete.uncalled
  const failed = error.called + error.uncalled
  return [
    promised(
      'every client has a complete answer, an explicit error, or has left',
      broken === 0 && sent === completed + failed + left,
      `${sent} requests: ${completed} complete (${curtailed} without what comes behind the end), ${failed} errors, ${left} left, ${broken} neither`,
      ...told,
    ),
    promised(
      'the outages let some answers through and some not',
      completed > failed && failed > 0 && left > 0,
    ),
  ]
}

function counters({
  tally,
  counters: { requests, calls, attempts, ...others },
  received,
  metered,
  events,
}: Seen): Promised[] {
  const { complete, error, left, sent } = tally
  const { answered, aborted, failed, rejected, refused, interrupted, outOfTime } = calls
  const errors = failed + rejected + refused + interrupted + outOfTime
  const counted = answered + errors + aborted
  const between = (n: number, low: number, high: number) => low <= n && n <= high
  return [
    promised(
      'requests = answers + errors + aborts',
      requests.whole === counted + error.uncalled &&
        between(sent - requests.whole - requests.cutShort, 0, left - requests.cutShort),
      `${requests.whole} requests of ${sent} = ${answered} answers + ${errors} errors + ${aborted} aborts + ${error.uncalled} turned away`,
    ),
    promised(
      'the gateway and its clients count the same',
      complete.uncalled === 0 &&
        between(answered - complete.called, 0, left) &&
        between(errors - error.called, 0, left) &&
        aborted <= left,
      `answers ${answered} and ${complete.called}, errors ${errors} and ${error.called}, aborts ${aborted} and ${left} who left`,
    ),
    promised(
      'attempts = requests at the providers',
      between(attempts - received, 0, left),
      `${attempts} attempts, ${received} requests`,
    ),
    promised('/metrics counts the same', metered === counted, `${metered} and ${counted}`),
    promised('an operator sees live events all the while', events > 0, `${events} events`),
    promised(
      'no permit is left over',
      others.probesInFlight === 0,
      `${others.probesInFlight} probes in flight`,
    ),
    promised(
      'circuits open, refuse and recover',
      others.opened > 0 && others.refused > 0 && others.recovered > 0,
      `${others.opened} openings, ${others.recovered} recoveries, ${others.refused} refusals`,
    ),
  ]
}

function leaks({ before, quiet, after, complaints, slope }: Seen): Promised[] {
  const grown = (then: Inventory, most: (name: string) => number) =>
    Object.entries(then.objects)
      .map(([name, n]) => ({ name, n: n - (before.objects[name] ?? 0) }))
      .filter(({ name, n }) => n > most(name))
      .map(({ name, n }) => `${n} ${name} too many`)
  const atRest = grown(quiet, (name) => AT_REST[name] ?? 0)
  const closed = grown(after, () => LEFT_OVER)
  const open = quiet.handles.filter((name) => name !== 'TCPServerWrap')
  const told = (list: readonly string[]) => (list.length === 0 ? 'none' : list.join(', '))
  return [
    promised(
      'at rest no connection is left',
      open.join() === before.handles.join(),
      `${told(open)}; before: ${told(before.handles)}`,
    ),
    promised('at rest no socket, request, signal or timer is left', atRest.length === 0, told(atRest)),
    promised('once closed, nothing is left', closed.length === 0, told(closed)),
    promised(
      'once closed, nothing keeps the process',
      after.handles.join() === before.handles.join(),
      `${told(after.handles)}; before: ${told(before.handles)}`,
    ),
    promised(
      'no listener is left',
      after.listeners <= before.listeners && complaints.length === 0,
      `${after.listeners} on the process, ${before.listeners} before`,
      ...complaints,
    ),
    promised(
      `the heap grows by less than ${MOST_GROWTH} MB a minute`,
      slope === undefined || slope < MOST_GROWTH,
      slope === undefined ? 'too short to say' : `${slope.toFixed(2)} MB a minute`,
    ),
  ]
}

const promised = (promise: string, holds: boolean, ...told: readonly string[]): Promised => ({
  promise,
  holds,
  told,
})
