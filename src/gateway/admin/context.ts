import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/notifier.ts'
import type { JournalStore } from '../../stores/journal-store.ts'
import type { AdminGear, AdminTarget } from './circuit-view.ts'
import type { AdminTokens } from './tokens.ts'
import type { GroupView } from './wire.ts'

/** What is in force; a reload changes it. */
export interface Present {
  readonly gear: AdminGear
  /** In the order of the chain. */
  readonly targets: readonly AdminTarget[]
  /** Model groups, as they are shown. */
  readonly groups?: readonly GroupView[] | undefined
  readonly tokens: AdminTokens
}

/** What a reload came to: names of what it changed, and of what goes on as it was. */
export interface Reloaded {
  readonly changed: readonly string[]
  readonly kept: readonly string[]
}

/** What the admin API stands upon. */
export interface AdminContext {
  readonly present: () => Present
  /** undefined = no journal is kept. */
  readonly journal?: Pick<JournalStore, 'rows'> | undefined
  /** Reads the configuration again; throws a ConfigError where it is broken. undefined = there is no file to read. */
  readonly reload?: (() => Promise<Reloaded>) | undefined
  /** Which replica answers: states differ from one to the other. */
  readonly replica: string
  readonly clock: Clock
  readonly logger: Logger
  /**
   * The chart of the breaker with the numbers of these rules, as SVG; undefined = of the default rules. Asked for when
   * somebody looks.
   */
  readonly chart: (policy: BreakerPolicy | undefined) => string | Promise<string>
}
