import { readFileSync } from 'node:fs'

/** The version in the package's own package.json, from the sources and from the build. */
export function packageVersion(): string {
  for (const place of ['../../package.json', '../../../package.json']) {
    try {
      const told: unknown = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'))
      const { name, version } = told as Record<string, string>
      if (name === 'switchgear' && version !== undefined) return version
    } catch {
      // not here
    }
  }
  return 'unknown'
}
