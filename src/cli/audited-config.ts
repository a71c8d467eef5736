import { basename, dirname } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { audited } from '../audit/audited.ts'
import type { Audited, AuditedGroup } from '../audit/audited.ts'
import type { LintAssumptions } from '../audit/lint/finding.ts'
import type { CircuitBreakerOptions } from '../core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../core/presets.ts'
import { withoutKeys } from './without-keys.ts'
import { parseDuration } from './duration.ts'

const noAnswer = () => {
  throw new Error('nobody is asked during an audit')
}

/** The rules of a configuration, or the presets and the plain default without one. */
export async function auditedConfig(
  file: string | undefined,
): Promise<{ readonly name: string; readonly audited: Audited }> {
  if (file === undefined) return { name: 'the presets and the plain default', audited: presets() }
  const { parseConfig, readConfigText } = await import('../gateway/config/read-config.ts')
  const { resolveConfig } = await import('../gateway/config/resolve-config.ts')
  const { toSwitchgearOptions } = await import('../gateway/gear-options.ts')
  const text = readConfigText(file)
  const config = resolveConfig(parseConfig(text, file, await withoutKeys(text)), dirname(file))
  const options = toSwitchgearOptions(config, () => ({ invoke: noAnswer, stream: noAnswer }))
  const groups = config.groups && [...config.groups.values()].map((group): AuditedGroup => group)
  return {
    name: basename(file),
    audited: audited(options, {
      hosts: Object.fromEntries(config.targets.map(({ name, baseUrl }) => [name, new URL(baseUrl).host])),
      ...(groups && { groups }),
      // where they go is a secret: whoever knows the address of a webhook can post to it
      alerts: config.alerts.map(({ on }) => ({ on })),
      journal: config.journal !== false,
    }),
  }
}

function presets(): Audited {
  const target = (name: string, circuitBreaker: CircuitBreakerOptions) => ({
    name,
    circuitBreaker,
    invoke: noAnswer,
  })
  const targets = [
    target('plain default', {}),
    target('llmDefaults', llmDefaults),
    target('toolDefaults', toolDefaults),
  ]
  return audited({ targets }, { groups: [] })
}

/** `200`, or `openai=200,azure=50`. */
export function parseRates(text: string): NonNullable<LintAssumptions['callsPerMinute']> {
  const numberOf = (value: string) => {
    if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value)
    throw new InvalidArgumentError('It must be a number of calls a minute, or such as openai=200,azure=50.')
  }
  if (!text.includes('=')) return numberOf(text)
  return Object.fromEntries(
    text.split(',').map((part) => {
      const at = part.lastIndexOf('=')
      return [part.slice(0, at), numberOf(part.slice(at + 1))]
    }),
  )
}

/** `2%`, `0.02`. */
export function parseShare(text: string): number {
  const share = /^\d+(?:\.\d+)?%?$/.test(text)
    ? Number.parseFloat(text) / (text.endsWith('%') ? 100 : 1)
    : NaN
  if (share > 0 && share < 1) return share
  throw new InvalidArgumentError('It must be a share between 0 and 1, such as 2% or 0.02.')
}

export function parseLasting(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('It must be a duration such as 90s or 5m.')
  return ms
}
