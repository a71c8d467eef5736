import { createSwitchgear } from 'switchgear'

async function* words(prompt: string) {
  yield* ['You', ' said ', prompt]
}

const gear = createSwitchgear({ targets: [{ name: 'openai', stream: words, circuitBreaker: true }] })
for await (const part of gear.stream('Hello')) console.log(part)
