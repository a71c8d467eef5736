import type { Severity } from '../lint/finding.ts'
import type { Seal } from '../sign/seal.ts'
import type { Story } from '../walk/walk-words.ts'

/** A piece of a report. Texts may hold `code` and **bold**. */
export type Block =
  | {
      readonly kind: 'heading'
      readonly level: 2 | 3
      readonly id: string
      readonly text: string
      /** What is signed ends before it: on paper it begins a page. */
      readonly beginsAnnex?: boolean
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | {
      readonly kind: 'table'
      readonly head: readonly string[]
      readonly rows: readonly (readonly string[])[]
    }
  /** Numbers that are seen first. */
  | { readonly kind: 'figures'; readonly figures: readonly Figure[] }
  /** Questions and what the rules answer. */
  | {
      readonly kind: 'answers'
      readonly answers: readonly { readonly question: string; readonly answer: string }[]
    }
  | {
      readonly kind: 'chart'
      readonly svg: string
      readonly caption: string
      /** On paper it lies across a page. */
      readonly isWide?: boolean
    }
  | {
      readonly kind: 'story'
      readonly title: string
      readonly note: string
      readonly story: Story | undefined
    }
  | {
      readonly kind: 'finding'
      readonly severity: Severity
      readonly title: string
      readonly text: string
      readonly reason: string
      /** What to set instead; empty = nothing is said. */
      readonly remedy: string
    }
  /** Places to sign by hand. */
  | { readonly kind: 'lines'; readonly labels: readonly string[] }

export interface Figure {
  readonly value: string
  readonly label: string
  readonly tone?: 'good' | 'watch' | 'bad'
}

/** A whole report, whatever it is rendered as. */
export interface ReportDocument {
  readonly title: string
  readonly lead: string
  readonly blocks: readonly Block[]
  /** What stands at the foot of every sheet of paper: a sheet alone says what it belongs to. */
  readonly foot: string
  /** The signature, where it can be found again. */
  readonly signature: string
  /** What the words were made from, besides the rules. */
  readonly seal: Omit<Seal, 'digest'>
}
