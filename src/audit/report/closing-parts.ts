import { failureTable } from '../../classify/failure-table.ts'
import type { Audited } from '../audited.ts'
import { shortHash } from '../sign/signature.ts'
import type { Signature } from '../sign/signature.ts'
import type { Block } from './document.ts'

const ROUTES = {
  next: 'the next target',
  stop: 'nowhere: the caller gets the error',
  'context-window': 'a target with more room, if there is a list',
  'content-policy': 'a target with another filter, if there is a list',
} as const

/** The table behind every verdict. */
export function failures(): Block[] {
  const counts = { failure: '**yes**', neutral: 'no', success: 'as a success' } as const
  return [
    { kind: 'heading', level: 2, id: 'failures', text: 'What counts as a failure' },
    {
      kind: 'text',
      text: 'One table for everything: the breaker counts by it, the retry repeats by it, the fallback goes on by it. A visit with all its retries is one outcome. What is wrong with a request or an answer is not held against a target.',
    },
    {
      kind: 'table',
      head: ['Kind', 'What happened', 'Counts', 'Retried', 'The call goes to', 'Somebody is told'],
      rows: Object.entries(failureTable).map(([kind, { seenAs, outcome, retry, fallback, alert }]) => [
        `\`${kind}\``,
        seenAs,
        counts[outcome],
        retry,
        ROUTES[fallback],
        alert ? 'yes' : '',
      ]),
    },
  ]
}

/** What is signed, what is not, and where. */
export function signOff(audited: Audited, signature: Signature, verifyCommand: string): Block[] {
  const own = [
    ...audited.custom,
    ...audited.targets.flatMap(({ name, custom }) => custom.map((key) => `${name}: ${key}`)),
  ]
  const covered = [
    'every rule and number above, of every target, group and list',
    'the three machines: their states, their transitions, the words of their guards, and what they do with every event over a family of policies',
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
          ? 'No code of the user’s own decides anything: nothing stands outside of the signature.'
          : `**Outside of the signature** stands code of the user’s own, which nobody can read here: ${own.map((each) => `\`${each}\``).join(', ')}.`,
    },
    {
      kind: 'text',
      text: `Whether the rules in force are still those, and whether this report says what it said: \`${verifyCommand}\`. It names what differs.`,
    },
    { kind: 'lines', labels: ['Name', 'Role', 'Date', 'Signature'] },
  ]
}
