import type { ServerResponse } from 'node:http'

import { STATELY } from '../../adapters/inspect/page-files.ts'
import { Relay } from '../../adapters/inspect/relay.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/notifier.ts'
import type { Switchgear } from '../../core/switchgear.ts'
import { AdminError } from './admin-error.ts'

interface Around {
  readonly gear: Pick<Switchgear<unknown, unknown, unknown>, 'supervisor'>
  readonly replica: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The live actors for all who watch. Nobody is observed while nobody does; who does stands in the log. */
export class LiveActors {
  readonly #relay: Relay
  readonly #logger: Logger

  constructor({ gear: { supervisor }, replica, clock, logger }: Around) {
    this.#relay = new Relay({ supervisor, inspector: STATELY, replica, clock, logger })
    this.#logger = logger
  }

  /** @throws AdminError, 503, where too many watch already */
  checkRoom(): void {
    const { whyFull } = this.#relay
    if (whyFull !== undefined) throw new AdminError(503, 'too_many_viewers', whyFull)
  }

  /** Sends everything from now on to `response`, whose head is out, until it closes or its token is out of use. */
  add(who: string, isWelcome: () => boolean, response: ServerResponse): void {
    // seen as transitions are: others may have to know who saw what
    this.#logger.warn({ who }, `admin: ${who} watches the live actors`)
    response.once('close', () => this.#logger.info({ who }, `admin: ${who} watches the live actors no more`))
    try {
      this.#relay.watch(response, isWelcome)
    } catch (error) {
      this.#relay.fault(error)
      response.destroy()
    }
  }

  /** Ends every stream, for good. */
  close(): void {
    this.#relay.close()
  }
}
