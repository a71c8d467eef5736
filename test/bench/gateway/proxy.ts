import { answerParent } from '../../support/child.ts'

const answers = (url: string) => ({
  /** Where it listens. */
  url: () => url,
  /** CPU time of this process so far, of all its threads, in µs. */
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
})

export type Proxy = ReturnType<typeof answers>

/** Says where a proxy listens, and from now on what it has cost. */
export const measured = (url: string): void => answerParent(answers(url))

/** Where the upstream listens. */
export function upstreamUrl(): string {
  const [, , url] = process.argv
  if (url === undefined) throw new Error('The URL of the upstream is missing.')
  return url
}
