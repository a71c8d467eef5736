import OpenAI from 'openai'
import { createSwitchgear, type AttemptContext } from 'switchgear'

const openai = new OpenAI({ maxRetries: 0 })
const backup = new OpenAI({ maxRetries: 0, baseURL: process.env['BACKUP_URL'] })
const via =
  (client: OpenAI) =>
  (content: string, { signal, model = '' }: AttemptContext) =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content }] }, { signal })

const gear = createSwitchgear({
  targets: [
    { name: 'openai', model: 'gpt-5', invoke: via(openai), circuitBreaker: true },
    { name: 'backup', model: 'llama-4', invoke: via(backup), circuitBreaker: true },
  ],
})
console.log((await gear.call('Hello')).choices[0]?.message.content)
