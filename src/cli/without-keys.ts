import type { Environment } from '../gateway/config/expand-env.ts'

/** What fits where a secret must stand, and is none. */
function standIn(key: string | number | undefined, name: string): string {
  if (key === 'url') return `https://not-set.invalid/${name}`
  if (key === 'secret') return `whsec_${Buffer.from('not set '.repeat(4)).toString('base64')}`
  return `not-set-${name.padEnd(16, '-')}`
}

/**
 * The environment, with a stand-in for each variable that is not set and stands in `text` where a secret does: who only
 * reads rules has no keys. Any other variable must be set, because its value may be a rule.
 */
export async function withoutKeys(text: string): Promise<Environment> {
  const { YamlFile } = await import('../yaml/yaml-file.ts')
  const { expandEnv } = await import('../gateway/config/expand-env.ts')
  const { isSecret } = await import('../gateway/config/secrets.ts')
  const file = new YamlFile(text)
  if (file.faults.length > 0) return process.env
  const { missing } = expandEnv(file.document, process.env)
  const elsewhere = new Set(missing.filter(({ path }) => !isSecret(path)).map(({ name }) => name))
  const standIns = missing
    .filter(({ name }) => !elsewhere.has(name))
    .map(({ path, name }) => [name, standIn(path.at(-1), name)])
  return { ...process.env, ...Object.fromEntries(standIns) }
}
