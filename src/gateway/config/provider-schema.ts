import * as Schema from 'effect/Schema'

import { baseUrl, headerText, optional } from './keys.ts'

/** Where a target is and how it is addressed: in a provider, or in the target itself. */
export const addressKeys = {
  baseUrl: optional(baseUrl, {
    description: 'The URL of the API; the endpoint such as /chat/completions is put behind it.',
    right:
      'must be the http(s) URL of an OpenAI-compatible API without a key in it, such as https://api.openai.com/v1',
  }),
  apiKey: optional(headerText, {
    description: 'The key of the API, best as ${NAME_OF_A_VARIABLE}. Default: none is sent.',
    right:
      'must be a key without line breaks, best as ${NAME_OF_A_VARIABLE}; leave it out where none is needed',
  }),
  api: optional(Schema.Literals(['openai', 'anthropic']), {
    description: '`openai`: /chat/completions, /responses, /embeddings; `anthropic`: /messages.',
    right: 'must be openai or anthropic',
    default: 'openai',
  }),
  auth: optional(
    Schema.Union([
      Schema.Literals(['bearer', 'x-api-key', 'none']),
      Schema.Struct({
        header: Schema.NonEmptyString.annotate({
          description: 'The header that carries the key.',
          right: 'must be the name of a header, such as api-key',
        }),
        prefix: optional(Schema.String.check(Schema.isPattern(/^[\t\x20-\x7e]*$/u)), {
          description: 'What stands before the key, such as "Token ".',
          right: 'must be printable text in one line, such as "Token "',
          default: '',
        }),
      }),
    ]),
    {
      description: 'How the key is sent. Default: bearer, and x-api-key for the api anthropic.',
      right: 'must be bearer, x-api-key, none, or {header: <name>, prefix: <text>}',
    },
  ),
  headers: optional(Schema.Record(Schema.String, headerText), {
    description: 'Headers that are sent with every request.',
    right: 'must be a mapping: name of a header → text in one line; put quotes around a number',
  }),
  query: optional(Schema.Record(Schema.String, Schema.String), {
    description: 'Parameters put behind the URL, such as api-version.',
    right: 'must be a mapping: name of a parameter → text; put quotes around a number',
  }),
}

/** One entry of `providers`. */
export const provider = Schema.Struct({
  ...addressKeys,
  baseUrl: baseUrl.annotate({
    description: 'The URL of the API; the endpoint such as /chat/completions is put behind it.',
    right:
      'must be the http(s) URL of an OpenAI-compatible API without a key in it, such as https://api.openai.com/v1',
  }),
}).annotate({ right: 'must be a provider: a mapping with a baseUrl' })
