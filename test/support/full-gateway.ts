import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { silentLogger } from '../../src/core/notifier.ts'
import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import type { Gateway } from '../../src/gateway/server.ts'
import { startService } from '../../src/gateway/service.ts'

/** A directory that goes with the process. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'switchgear-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A gateway as `switchgear serve` runs it, with its journal and all else in a directory. */
export const startFullGateway = (config: GatewayConfig, directory: string): Promise<Gateway> =>
  startService({ file: join(directory, 'gateway.yaml'), read: () => config, logger: silentLogger })
