import OpenAI from 'openai'
import { breakerFetch } from 'switchgear/fetch'

const openai = new OpenAI({ maxRetries: 0, fetch: breakerFetch({ whenOpen: 'respond', timeoutMs: 30_000 }) })

const { choices } = await openai.chat.completions.create({
  model: 'gpt-5',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(choices[0]?.message.content)
