import { firstDifference } from './seal.ts'
import type { Seal } from './seal.ts'

/** A report, and what would be written now for the rules that it was written for. */
export interface TextToJudge {
  readonly seal: Seal
  /** Whether the text is that which was sealed. */
  readonly isWhole: boolean
  readonly was: string
  readonly is: string
  /** The version that runs. */
  readonly version: string
  /** False = the rules are others, so that the text has to differ. */
  readonly sameRules: boolean
}

export interface TextJudgement {
  readonly isSound: boolean
  /** One line each. */
  readonly told: readonly string[]
}

/** Whether the text of a report is what was written: edited by hand, or only worded by another version? */
export function judgeText({ seal, isWhole, was, is, version, sameRules }: TextToJudge): TextJudgement {
  const other = seal.version === version ? undefined : seal.version
  const first = sameRules ? firstDifference(was, is) : undefined
  const where =
    first === undefined
      ? []
      : [
          `the first line that differs is line ${first.line}:`,
          `  in the report:         ${first.was}`,
          `  as it is written now:  ${first.is}`,
        ]
  if (!isWhole) {
    const doubt =
      other === undefined
        ? ''
        : `; it was written by version ${other}, this is ${version}, which may word other lines differently, too`
    return {
      isSound: false,
      told: [`the text of the report was edited after it was written${doubt}`, ...where],
    }
  }
  if (first === undefined || !sameRules)
    return { isSound: true, told: [`the report is as version ${seal.version} wrote it`] }
  if (other !== undefined)
    return {
      isSound: true,
      told: [
        `the report is as version ${other} wrote it; this is version ${version}, which words it differently`,
        ...where,
      ],
    }
  // its seal fits, and yet nobody would have written it: both were made by hand, or it comes from between two releases
  return {
    isSound: false,
    told: [
      `the text of the report is another than this version (${version}) writes, although it says to come from it: it was edited and sealed anew, or another build of this version wrote it`,
      ...where,
    ],
  }
}
