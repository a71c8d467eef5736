import { failureTable } from '../../classify/failure-table.ts'
import type { Audited } from '../audited.ts'
import { shortHash } from '../sign/signature.ts'
import type { Signature } from '../sign/signature.ts'
import type { Block } from './document.ts'

const ROUTES = {
  next: 'the next target',
  stop: 'the caller, as it is',
  'context-window': 'the list for long prompts, if any',
  'content-policy': 'the list for refused content, if any',
} as const

/** The table behind every verdict. */
export function failures(): Block[] {
  const counts = { failure: '**yes**', neutral: 'no', success: 'as a success' } as const
  return [
    { kind: 'heading', level: 2, id: 'failures', text: 'What counts as a failure' },
    {
      kind: 'text',
      text: 'One table for everything: the breaker counts by it, the retry repeats by it, the fallback goes on by it. A call at one target, with all its retries, counts once. What the caller got wrong, and what a filter or a schema says of an answer, is not held against a target; that no usable answer came is. What needs a person is not mended by waiting; whether an alert is sent stands under What is protected.',
    },
    {
      kind: 'table',
      head: ['Kind', 'What happened', 'Counts', 'Retried', 'Goes to', 'Needs a person'],
      rows: Object.entries(failureTable).map(([kind, { seenAs, outcome, retry, fallback, alert }]) => [
        `\`${kind}\``,
        seenAs,
        counts[outcome],
        retry,
        ROUTES[fallback],
        alert ? '**yes**' : '',
      ]),
    },
  ]
}

/** What is signed, what is not, and where. */
export function signOff(
  audited: Audited,
  signature: Signature,
  {
    verifyCommand,
    version,
    assumptions,
  }: {
    readonly verifyCommand: string
    readonly version: string
    readonly assumptions: readonly string[]
  },
): Block[] {
  const own = [
    ...audited.custom,
    ...audited.targets.flatMap(({ name, custom }) => custom.map((key) => `${name}: ${key}`)),
  ]
  const covered = [
    'every rule and every number of the configuration, of each target, group and list',
    'the program that decides by them: which states there are, what leads from one to another, the words for it in this report, and what it does with every kind of event',
    'the table of failures',
  ]
  return [
    { kind: 'heading', level: 2, id: 'sign-off', text: 'Sign-off' },
    {
      kind: 'text',
      text: `What is signed here has the hash \`${signature.hash}\`, in short **${shortHash(signature)}**. It covers:`,
    },
    { kind: 'list', items: covered },
    {
      kind: 'text',
      text:
        own.length === 0
          ? 'No code of your own decides anything: nothing stands outside of the signature.'
          : `**Outside of the signature** stands code of your own, which nobody can read here: ${own.map((each) => `\`${each}\``).join(', ')}.`,
    },
    {
      kind: 'text',
      text: `**It does not cover what was assumed**: ${assumptions.join('; ')}. With other assumptions the same rules have the same hash, and this report other answers.`,
    },
    {
      kind: 'text',
      text: `Whether the rules in force are still those, and whether this report, written by switchgear ${version}, says what it said: \`${verifyCommand}\`. No key is needed for it. It names what differs, and tells an edited report from one of another version.`,
    },
    { kind: 'lines', labels: ['Name', 'Role', 'Date', 'Signature'] },
  ]
}
