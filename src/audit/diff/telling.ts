/** Two circuits or two chains told apart: a scenario that passes under the first and fails under the second. */
export interface Telling {
  /** What is done. */
  readonly given: readonly string[]
  readonly when: string
  /** What comes of it. */
  readonly underA: string
  readonly underB: string
  /** A name for a file: `after-5-failures`. */
  readonly slug: string
  /** The scenario with the options of the first, and the same with those of the second. */
  readonly fileA: string
  readonly fileB: string
  /** Played both ways: it passes with the first and fails with the second. */
  readonly proven: boolean
}
