import { dirname, join, resolve } from 'node:path'

import type { Logger } from '../core/notifier.ts'
import { memoryJournal } from '../stores/memory-journal.ts'
import { outcomeRecorder } from '../stores/outcome-recorder.ts'
import { sqliteJournal } from '../stores/sqlite-journal.ts'
import type { JournalStore } from '../stores/journal-store.ts'
import { TOKEN_FILE } from './admin/token-file.ts'
import type { GatewayConfig } from './config/schema.ts'
import { summarize } from './config/summary.ts'
import { resolveConfig } from './config/resolve-config.ts'
import type { ResolvedConfig } from './config/resolve-config.ts'
import { createGateway } from './server.ts'
import type { Gateway } from './server.ts'

export interface ServiceOptions {
  /** The configuration file: journal and token stand beside it unless it says otherwise. */
  readonly file: string
  /** Reads it; called at the start and at every reload. Throws where it is broken. */
  readonly read: () => GatewayConfig
  readonly logger: Logger
}

/**
 * The gateway as a service: with its journal, from which every circuit is restored, a recording of outcomes where it is
 * wanted, and an admin token kept in a file where none is configured. Closing it closes journal and recording, too.
 *
 * @throws ConfigError for a configuration or a token file that cannot be used
 * @throws ListenError when a port cannot be had
 */
export async function startService({ file, read, logger }: ServiceOptions): Promise<Gateway> {
  const directory = dirname(resolve(file))
  const config = read()
  const resolved = resolveConfig(config, directory)
  const journal = openJournal(resolved, logger)
  const note = (now: ResolvedConfig) => journal.recordConfig(JSON.stringify(summarize(now), null, 2))
  let gateway: Gateway
  try {
    gateway = await createGateway(config, {
      journal,
      snapshots: journal.latest(),
      directory,
      readConfig: read,
      tokenFile: join(resolved.journal === false ? directory : dirname(resolved.journal.file), TOKEN_FILE),
      logger,
      onReload: note,
    })
  } catch (error) {
    journal.close()
    throw error
  }
  note(resolved)
  const recorder = resolved.record === false ? undefined : outcomeRecorder({ ...resolved.record, logger })
  recorder?.attach(gateway.gear)
  const close: Gateway['close'] = async (options) => {
    await gateway.close(options)
    await recorder?.close()
    journal.close()
  }
  return { ...gateway, close, [Symbol.asyncDispose]: () => close() }
}

function openJournal({ journal }: ResolvedConfig, logger: Logger): JournalStore {
  return journal === false ? memoryJournal({ logger }) : sqliteJournal({ ...journal, logger })
}
