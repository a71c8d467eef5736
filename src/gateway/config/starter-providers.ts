import type { Environment } from './expand-env.ts'
import type { Api } from './resolve-target.ts'

/** A provider that a first configuration can be made for. */
export interface StarterProvider {
  readonly name: string
  /** Where its key is looked for, in order. */
  readonly variables: readonly [string, ...string[]]
  readonly api: Api
  readonly baseUrl: string | ((env: Environment) => { readonly line: string })
  readonly model: string
  /** More lines of its entry. */
  readonly lines?: readonly string[]
}

const openai = (name: string, variable: string, baseUrl: string, model: string): StarterProvider => ({
  name,
  variables: [variable],
  api: 'openai',
  baseUrl,
  model,
})

/** What is other about the endpoint of Anthropic that has the shape of OpenAI's: its own API needs headers of its own. */
export const compatibleAnthropic = {
  name: 'anthropic-chat',
  api: 'openai',
  lines: ['api: openai   # POST /v1/chat/completions only'],
} as const satisfies Partial<StarterProvider>

/** In the order in which they follow each other as fallbacks. */
export const starterProviders: readonly StarterProvider[] = [
  openai('openai', 'OPENAI_API_KEY', 'https://api.openai.com/v1', 'gpt-5'),
  {
    name: 'azure',
    variables: ['AZURE_OPENAI_API_KEY'],
    api: 'openai',
    baseUrl: (env) => ({
      line:
        (env['AZURE_OPENAI_ENDPOINT'] ?? '') === ''
          ? 'baseUrl: https://your-resource.openai.azure.com/openai/v1   # put in the name of your resource'
          : 'baseUrl: "${AZURE_OPENAI_ENDPOINT}/openai/v1"',
    }),
    // a deployment of the user's own
    model: 'gpt-5',
    lines: ['auth: { header: api-key }'],
  },
  {
    name: 'anthropic',
    variables: ['ANTHROPIC_API_KEY'],
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    model: 'claude-sonnet-4-5',
    lines: [
      'api: anthropic   # asked through POST /v1/messages',
      'headers: { anthropic-version: "2023-06-01" }',
    ],
  },
  {
    ...openai(
      'gemini',
      'GEMINI_API_KEY',
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'gemini-2.5-flash',
    ),
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  },
  openai('mistral', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1', 'mistral-large-latest'),
  openai('groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1', 'llama-3.3-70b-versatile'),
  openai('deepseek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/v1', 'deepseek-chat'),
  openai('xai', 'XAI_API_KEY', 'https://api.x.ai/v1', 'grok-4'),
  openai(
    'together',
    'TOGETHER_API_KEY',
    'https://api.together.xyz/v1',
    'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  ),
  openai(
    'fireworks',
    'FIREWORKS_API_KEY',
    'https://api.fireworks.ai/inference/v1',
    'accounts/fireworks/models/llama-v3p3-70b-instruct',
  ),
  openai('cerebras', 'CEREBRAS_API_KEY', 'https://api.cerebras.ai/v1', 'llama-3.3-70b'),
  openai('openrouter', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1', 'openai/gpt-5'),
]
