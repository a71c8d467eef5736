import { isBag, isFilled, items, read, readPath, readText } from './safe-read.ts'

const someText = (value: unknown): boolean =>
  isFilled(value) || items(value).some((part) => isFilled(part) || isFilled(read(part, 'text')))

const isCall = (value: unknown): boolean => items(value).length > 0

/** A chat message or delta carries text, a tool call, audio or images. */
export const messageHasContent = (message: unknown): boolean =>
  someText(read(message, 'content')) ||
  isCall(read(message, 'tool_calls')) ||
  isBag(read(message, 'function_call')) ||
  isBag(read(message, 'audio')) ||
  isCall(read(message, 'images'))

/** Thoughts are content for a reader of a stream, but no answer. */
export const messageHasReasoning = (message: unknown): boolean =>
  ['reasoning_content', 'reasoning', 'thinking'].some((key) => someText(read(message, key)))

export const choicesHaveContent = (choices: unknown): boolean =>
  items(choices).some(
    (choice) => messageHasContent(read(choice, 'message')) || isFilled(read(choice, 'text')),
  )

const thoughts = new Set(['thinking', 'redacted_thinking', 'reasoning'])

/** Blocks of the messages API and of Bedrock: text, or anything that is not a thought. */
export const blocksHaveContent = (blocks: unknown): boolean =>
  items(blocks).some((block) => {
    const type = read(block, 'type')
    if (type === 'text' || type === undefined)
      return isFilled(read(block, 'text')) || isBag(read(block, 'toolUse'))
    return typeof type !== 'string' || !thoughts.has(type)
  })

/** Items of the responses API: a message with text, or any call. */
export const outputHasContent = (output: unknown): boolean =>
  items(output).some((item) => {
    const type = read(item, 'type')
    if (type === 'message' || type === undefined) return someText(read(item, 'content'))
    return typeof type !== 'string' || !thoughts.has(type)
  })

const geminiParts = ['functionCall', 'inlineData', 'executableCode', 'fileData']

export const candidatesHaveContent = (candidates: unknown): boolean =>
  items(candidates).some((candidate) =>
    items(readPath(candidate, 'content', 'parts')).some(
      (part) => isFilled(read(part, 'text')) || geminiParts.some((key) => isBag(read(part, key))),
    ),
  )

/** The refusal a model puts in place of an answer, in any of the shapes. */
export const hasRefusal = (data: unknown): boolean =>
  items(read(data, 'choices')).some(
    (choice) =>
      isFilled(readPath(choice, 'message', 'refusal')) || isFilled(readPath(choice, 'delta', 'refusal')),
  ) ||
  items(read(data, 'output')).some((item) =>
    items(read(item, 'content')).some((part) => isFilled(read(part, 'refusal'))),
  ) ||
  isFilled(readPath(data, 'promptFeedback', 'blockReason')) ||
  readText(data, 'type').startsWith('response.refusal.')
