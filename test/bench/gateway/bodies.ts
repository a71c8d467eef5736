/** What the clients of a chat service send, and what providers answer: sizes, fields and headers as they are in the wild. */

const QUESTION = `Our checkout service answers 502 to about one request in forty since yesterday's deployment. The load balancer says "upstream prematurely closed connection while reading response header". What would you look at first, and how do I tell whether the keep-alive timeouts of the two sides fit together?`

const ANSWER = `Look at the **idle timeouts** first. A 502 with that message usually means that the load balancer reused a connection which the service was closing at the same moment.

1. The timeout of the service must be *longer* than that of the load balancer. Many servers close an idle connection after 5 seconds, many load balancers keep one for 60.
2. Compare the time of the failing requests with the age of their connections: failures that come right after a quiet spell speak for this cause, failures under load speak against it.
3. Capture both sides for a minute. A FIN from the service that crosses a request on the wire settles it.

If the timeouts fit, see whether the new version restarts its workers (memory limit, crash loop): then the connections are cut in the middle of a request, and the log of the service shows it.`

export const request = (stream: boolean): string =>
  JSON.stringify({
    model: 'gpt-5',
    messages: [
      {
        role: 'system',
        content:
          'You are a careful site reliability engineer. Answer briefly, in the language of the question, and say what you are not sure of.',
      },
      { role: 'user', content: 'How long does node keep an idle connection?' },
      {
        role: 'assistant',
        content:
          'Five seconds by default: `server.keepAliveTimeout` is 5000 ms. A proxy in front of it should give up its idle connections sooner than that.',
      },
      { role: 'user', content: QUESTION },
    ],
    temperature: 0.2,
    max_completion_tokens: 800,
    ...(stream && { stream: true, stream_options: { include_usage: false } }),
  })

/** As the OpenAI SDK sends them. */
export const requestHeaders: Readonly<Record<string, string>> = {
  accept: 'application/json',
  'content-type': 'application/json',
  'user-agent': 'OpenAI/JS 7.59.0',
  'x-stainless-lang': 'js',
  'x-stainless-package-version': '7.59.0',
  'x-stainless-os': 'Linux',
  'x-stainless-arch': 'x64',
  'x-stainless-runtime': 'node',
  'x-stainless-runtime-version': 'v24.21.0',
  'x-stainless-retry-count': '0',
  authorization: 'Bearer sk-client-0000000000000000000000000000',
}

export const answerHeaders: Readonly<Record<string, string>> = {
  'openai-organization': 'acme',
  'openai-processing-ms': '1204',
  'openai-version': '2020-10-01',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-limit-tokens': '2000000',
  'x-ratelimit-remaining-requests': '9999',
  'x-ratelimit-remaining-tokens': '1999412',
  'x-ratelimit-reset-requests': '6ms',
  'x-ratelimit-reset-tokens': '17ms',
  'x-request-id': 'req_7f3c9a1f0b5d4e6f8a2b3c4d5e6f7a8b',
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  'cf-ray': '9a1b2c3d4e5f6a7b-FRA',
  'alt-svc': 'h3=":443"; ma=86400',
}

const common = {
  id: 'chatcmpl-CkT3v0Zq1Y8hJ2mN5pR7sU9wX4aB6',
  created: 1_767_225_600,
  model: 'gpt-5-2025-08-07',
  service_tier: 'default',
  system_fingerprint: 'fp_a1b2c3d4e5',
}

export const answer: string = JSON.stringify({
  ...common,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: ANSWER, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 186,
    completion_tokens: 241,
    total_tokens: 427,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  },
})

const event = (delta: object, finishReason: string | null = null) => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  return `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, obfuscation: 'kQ3vT9' })}\n\n`
}

const words = (ANSWER.match(/\s*\S+/g) ?? []).slice(0, 48)

/** Fifty chunks: the role, forty-eight words, the finish reason. */
export const chunks: readonly string[] = [
  event({ role: 'assistant', content: '', refusal: null }),
  ...words.map((content) => event({ content })),
  event({}, 'stop'),
]

export const DONE = 'data: [DONE]\n\n'
