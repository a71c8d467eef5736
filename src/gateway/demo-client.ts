import { Agent } from 'undici'

/** What a client got for one call. */
export interface ClientCall {
  /** 200 with a whole answer: a stream counts only with its end marker. */
  readonly answered: boolean
  readonly target: string | undefined
}

/** A client of a gateway over real HTTP. */
export class DemoClient {
  readonly #agent = new Agent({ keepAliveTimeout: 10_000 })

  /** One chat completion, in one piece or in parts. */
  async ask(gatewayUrl: string, stream: boolean): Promise<ClientCall> {
    const messages = [{ role: 'user', content: 'Hello' }]
    try {
      const { statusCode, headers, body } = await this.#post(`${gatewayUrl}/v1/chat/completions`, {
        model: 'demo',
        stream,
        messages,
      })
      const text = await body.text()
      const target = headers['x-switchgear-target']
      const whole = stream ? text.endsWith('data: [DONE]\n\n') : text.includes('"finish_reason":"stop"')
      return {
        answered: statusCode === 200 && whole,
        target: typeof target === 'string' ? target : undefined,
      }
    } catch {
      return { answered: false, target: undefined }
    }
  }

  /** Switches a scripted provider's outage through its control API. */
  async switchOutage(providerUrl: string, on: boolean): Promise<void> {
    const { body } = await this.#post(`${providerUrl}/control/outage`, { on })
    await body.text()
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  #post(url: string, value: object) {
    const { origin, pathname } = new URL(url)
    const headers = { 'content-type': 'application/json' }
    return this.#agent.request({
      origin,
      path: pathname,
      method: 'POST',
      headers,
      body: JSON.stringify(value),
    })
  }
}
