import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { GatewayConfig } from '../../src/gateway/config-schema.ts'
import { createGateway } from '../../src/gateway/server.ts'
import type { Gateway } from '../../src/gateway/server.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'

/** A directory that goes with the process. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'switchgear-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A gateway as `switchgear serve` runs it, with its files in a directory. */
export async function startFullGateway(config: GatewayConfig, directory: string): Promise<Gateway> {
  const journal = sqliteJournal({ file: join(directory, 'journal.db') })
  const gateway = await createGateway(config, { journal, snapshots: journal.latest(), directory })
  const close: Gateway['close'] = async (options) => {
    await gateway.close(options)
    journal.close()
  }
  return { ...gateway, close, [Symbol.asyncDispose]: () => close() }
}
