import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, startGateway } from '../gateway/support.ts'
import { startReceiver } from './receiver.ts'
import { countedIn, hasPromtool, promtool, samplesIn, withPromtool } from './support.ts'

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`

describe('an outage behind a gateway', () => {
  it('is seen at /metrics and told to a webhook, without a key in either', async () => {
    await using provider = await startScriptedProvider()
    await using receiver = await startReceiver()
    const target = { baseUrl: provider.baseURL, circuitBreaker: { threshold: 2 } }
    await using gateway = await startGateway(
      [
        { ...target, name: 'primary', model: '500', apiKey: 'sk-primary-secret' },
        { ...target, name: 'backup', model: 'ok', apiKey: 'sk-backup-secret' },
      ],
      { alerts: [{ url: receiver.url, secret, on: ['open'] }], journal: false },
    )
    for (let i = 0; i < 4; i++) expect((await ask(gateway)).status).toBe(200)

    const answer = await fetch(`${gateway.url}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    expect(countedIn(text, 'switchgear_fallback')).toEqual({
      'switchgear_fallback_attempted_total{from="primary",to="backup",result="success"}': 4,
    })
    expect(countedIn(text, 'switchgear_refused')).toEqual({
      'switchgear_refused_total{target="primary",model="500",reason="open"}': 2,
    })
    expect(samplesIn(text).get('switchgear_requests_total{result="answered"}')).toBe(4)

    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(1))
    const { headers, body } = receiver.deliveries[0]!
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: 'dev.switchgear.circuit.opened.v1',
      subject: 'primary',
    })
    expect(`${text}${body}`).not.toMatch(/sk-|whsec_/)
  })

  it.skipIf(!hasPromtool)(`gives a text that promtool is content with${withPromtool}`, async () => {
    await using provider = await startScriptedProvider()
    await using gateway = await startGateway([{ baseUrl: provider.baseURL, model: 'ok' }], { journal: false })
    await ask(gateway)
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(promtool(['check', 'metrics'], text)).toEqual({ ok: true, said: '' })
  })
})
