import type { Ask, Reply } from './reply.ts'
import { contentParts, fixedCreated, sse, toAnswerText, usageOf } from './reply.ts'

/** A chat completion, whole and as `chat.completion.chunk` events. Empty text leaves no choice at all. */
export function chatReply(ask: Ask, text: string = toAnswerText(ask)): Reply {
  const common = { id: `chatcmpl-${ask.number}`, created: fixedCreated, model: ask.model }
  const whole = (finishReason: string | null) => ({
    ...common,
    object: 'chat.completion',
    choices:
      text === ''
        ? []
        : [
            {
              index: 0,
              message: { role: 'assistant', content: text, refusal: null },
              logprobs: null,
              finish_reason: finishReason,
            },
          ],
    usage: chatUsage(text),
  })
  const chunk = (choices: readonly object[], usage: object | null = null) =>
    sse({
      ...common,
      object: 'chat.completion.chunk',
      choices,
      ...(ask.includeUsage ? { usage } : {}),
    })
  const delta = (change: object, finishReason: string | null = null) =>
    chunk([{ index: 0, delta: change, logprobs: null, finish_reason: finishReason }])

  return {
    whole: whole('stop'),
    unfinished: whole(null),
    preamble: [delta({ role: 'assistant', content: '', refusal: null })],
    content: contentParts(text).map((part) => delta({ content: part })),
    finish: [
      delta({}, 'stop'),
      ...(ask.includeUsage ? [chunk([], chatUsage(text))] : []),
      'data: [DONE]\n\n',
    ],
    failure: (error) => sse({ error }),
  }
}

/** Embeddings with one fixed vector. They are never streamed: every part is the whole body. */
export function embeddingsReply(ask: Ask, text: string = toAnswerText(ask)): Reply {
  const whole = {
    object: 'list',
    data: text === '' ? [] : [{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 0.75] }],
    model: ask.model,
    usage: { prompt_tokens: 8, total_tokens: 8 },
  }
  return { whole, unfinished: whole, preamble: [], content: [], finish: [], failure: () => '' }
}

function chatUsage(text: string): object {
  const { input, output } = usageOf(text)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
