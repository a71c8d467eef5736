import type { FailureKind } from './verdict.ts'

interface WordRule {
  readonly kind: FailureKind
  /** Each must occur, in any order: providers reword, and proxies shuffle. */
  readonly all: readonly RegExp[]
  /** None may occur. */
  readonly none?: readonly RegExp[]
}

const perTime = /\bper (?:min|minute|sec|second|hour|day)\b|\b[tr]p[md]\b|\brate\b|throttl|\bwait(?:ing)?\b/
const tooBig =
  /too (?:long|large|big|many)|over(?:ly|sized| the)\b|exceed|surpass|beyond|above|greater|more than|longer than|larger than|overflow|went past|go(?:es)? over|past the/
const bound =
  /maximum|\bmax\b|\blimit|allowed|\bcap\b|permitted|supported|at most|ceiling|upper bound|accept|handle/
const negation =
  /\bnot\b|\bno\b|unknown|invalid|unsupported|unavailable|missing|non existent|nonexistent|deprecated|decommissioned|retired/
const askedSize = /\b(?:request|prompt|input|message|messages|payload)\b/

/** The texts as {@link normalise} leaves them. Only billing words say quota: a per-minute limit often says "quota" too. */
const rules: readonly WordRule[] = [
  {
    kind: 'content_policy',
    all: [
      /content (?:management|filter|polic|moderat|safety)|(?:usage|acceptable use|safety|responsible ai) polic/,
    ],
  },
  {
    kind: 'content_policy',
    all: [/moderation|safety (?:system|filter|setting|check)|guardrail|prohibited content|policy violation/],
  },
  {
    kind: 'content_policy',
    all: [/flagged|filtered|blocked|refused/, /polic|safety|content|harmful|violat|unsafe/],
  },
  {
    kind: 'context_window',
    all: [
      /context (?:window|length|size|limit|space|overflow|is full)|exceed\w* (?:\w+ ){0,2}context|\d tokens? > \d|(?:window|length|size) of (?:the )?context|out of context/,
    ],
    none: [/unsupported|invalid value/],
  },
  {
    kind: 'context_window',
    all: [
      /\b(?:prompt|input|conversation|transcript|text|document|history)\b/,
      /too (?:long|lengthy)|too many tokens|longer than|overly long|not fit/,
    ],
    none: [perTime],
  },
  {
    kind: 'context_window',
    all: [/\btokens?\b/, /\b(?:input|prompt|messages?|request)\b/, tooBig, bound],
    none: [perTime, /(?:completion|output|new) tokens|max tokens|balance|credit|quota/],
  },
  {
    kind: 'context_window',
    all: [/\btokens?\b/, /reduce|shorten|trim|decrease/, /length of|\b(?:input|prompt|messages)\b/],
    none: [perTime, /max tokens is/],
  },
  {
    kind: 'quota_exhausted',
    all: [
      /\b(?:balance|funds?|credits?|wallet|prepa(?:id|yment))\b/,
      /insufficient|not (?:have )?(?:enough|sufficient)|\blow\b|deplet|exhaust|empty|zero|negative|positive|expired|run out|ran out|used (?:up|all)|all (?:available|of)|out of|\bno\b|more credits?|purchase|\bbuy\b|\badd\b|top up|recharge|afford|lack|spent|too little/,
    ],
    none: [/rate limit/],
  },
  {
    kind: 'quota_exhausted',
    all: [
      /spend(?:ing)? (?:limit|cap)|(?:monthly|daily|spending|workspace|account|team) budget|billing|payment required|unpaid|overdue|arrears|invoice/,
    ],
    none: [/rate limit/],
  },
  {
    kind: 'quota_exhausted',
    all: [/api usage limit|specified usage limit|usage limits? (?:has|have|was)? ?(?:been )?reached/],
    none: [perTime],
  },
  {
    kind: 'unsupported',
    all: [
      /(?:does|do) not support|no endpoints? found that support|not supported (?:by|with|for|on) (?:this|the|that) (?:model|deployment|provider)/,
      /\bimages?\b|vision|\btools?\b|tool use|function call|audio|json (?:mode|schema)|response format|structured output/,
    ],
    none: [/parameter/],
  },
  { kind: 'not_found', all: [/on demand (?:throughput|use|capacity)|inference profile/, negation] },
  {
    kind: 'not_found',
    all: [
      /\b(?:model|deployment|engine|inference profile)s?\b/,
      /not found|not exist|not (?:be )?(?:located|available)|no (?:such|longer)|unknown|could not (?:find|locate)|not a valid|deprecated|decommissioned|retired|no endpoints|non ?existent|not (?:deployed|known|recogni)|\bno (?:model|deployment|engine)\b/,
    ],
    none: [/overload|loading|capacity|temporar|currently|rate limit/],
  },
  {
    kind: 'not_found',
    all: [/model (?:id|identifier|name)\b.*\binvalid|invalid model (?:id|identifier|name)\b/],
  },
  {
    kind: 'auth',
    all: [
      /api key|(?:access|security) token|bearer|credentials?|authentication|authorization/,
      /invalid|incorrect|missing|expired|wrong|\bbad\b|not (?:valid|provided|recogni)|revoked|unrecogni|\bno\b|fail|required|malformed|reject|disabled/,
    ],
  },
  {
    kind: 'auth',
    all: [
      /\b(?:organi[sz]ation|account|project|workspace|subscription|team)\b/,
      /disabled|deactivated|suspended|banned|terminated|blocked|restricted|switched off|turned off|closed|no longer active|inactive|not active/,
    ],
    none: [/tokens? per|rate limit/],
  },
  {
    kind: 'auth',
    all: [
      /permission denied|access denied|not authori[sz]ed|unauthori[sz]ed|forbidden|(?:not|lack) (?:have )?(?:the )?(?:required )?permission/,
    ],
  },
  {
    kind: 'overloaded',
    all: [
      /overload|over(?:loaded)? capacity|(?:at|no|insufficient|out of|lacks?|beyond|not enough|full) capacity|capacity (?:\w+ ){0,2}(?:exceeded|reached|exhausted)|(?:too|is|are|currently|very) busy|(?:high|heavy|excessive) (?:demand|load|traffic)|cold start/,
    ],
  },
  {
    kind: 'overloaded',
    all: [
      /\bmodel\b|server|engine|endpoint|instance/,
      /\bloading\b|warming|being loaded|not (?:yet )?ready|starting up/,
    ],
  },
  {
    kind: 'rate_limit',
    all: [
      /rate limit|ratelimit|(?:limit|cap) on (?:the )?(?:rate|requests)|too many (?:requests|tokens|calls|concurrent)|throttl|slow down|(?:requests?|tokens?|calls?|queries) per (?:min|sec|hour|day)|requests? rate|too (?:fast|quickly|frequent)/,
    ],
  },
  {
    kind: 'tool_contract',
    all: [
      /failed to (?:call|parse|generate|invoke)|malformed|invalid/,
      /\btool calls?\b|function calls?\b|call a (?:function|tool)/,
    ],
  },
]

/** Weaker than a status: a gateway's "timeout" page with status 504 is the provider's failure. */
const weakRules: readonly WordRule[] = [
  { kind: 'timeout', all: [/timed out|time ?out|deadline exceeded|took too long/] },
  {
    kind: 'network',
    all: [
      /connection (?:error|closed|reset|refused|aborted|lost|terminated|was closed)|socket hang up|fetch failed|failed to fetch|load failed|network ?(?:error|request failed)|network connection|other side closed|premature close|getaddrinfo|^terminated$|can not connect|unable to connect|failed to connect|not connected|disconnected/,
    ],
  },
  {
    kind: 'malformed_response',
    all: [/invalid json response|unexpected token <|not valid json < ?!?doctype/],
  },
  {
    kind: 'server_error',
    all: [
      /internal (?:server )?error|bad gateway|service (?:temporarily )?unavailable|upstream (?:connect )?error|provider returned error|server (?:had|experienced|encountered) an error/,
    ],
  },
  { kind: 'quota_exhausted', all: [/exceeded your (?:current|monthly) quota/], none: [perTime] },
]

function lookupOf(table: readonly WordRule[]): (texts: readonly string[]) => FailureKind | undefined {
  const fits = ({ all, none = [] }: WordRule, text: string): boolean =>
    all.every((pattern) => pattern.test(text)) && !none.some((pattern) => pattern.test(text))
  return (texts) => table.find((rule) => texts.some((text) => fits(rule, text)))?.kind
}

/** What normalised texts say where they name a cause. */
export const kindOfWords = lookupOf(rules)

/** What normalised texts hint at where nothing else speaks. */
export const kindOfWeakWords = lookupOf(weakRules)

/** One request larger than the limit itself: it never fits, however long one waits. */
export function isLargerThanLimit(texts: readonly string[]): boolean {
  return texts.some((text) => {
    const limit = /\b(?:limit|limited to|cap|maximum)(?: is| of|:)? (\d+)/.exec(text)?.[1]
    const requested = /\b(?:requested|asked for|needs|wanted)(?: is| of|:)? (\d+)/.exec(text)?.[1]
    if (limit !== undefined && requested !== undefined) return Number(requested) > Number(limit)
    return (
      askedSize.test(text) &&
      /\btokens?\b/.test(text) &&
      /too (?:large|big)|(?:must|should) be reduced/.test(text)
    )
  })
}
