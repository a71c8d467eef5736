import { startFullGateway, temporaryDirectory } from '../../support/full-gateway.ts'
import { measured, upstreamUrl } from './proxy.ts'

// Breakers, classification, metrics and the journal are on.

const baseUrl = `${upstreamUrl()}/v1`
const config = {
  server: { port: 0 },
  targets: [
    { name: 'primary', baseUrl, apiKey: 'sk-0000000000000000000000000000' },
    { name: 'backup', baseUrl, apiKey: 'sk-1111111111111111111111111111' },
  ],
} as const
const gateway = await startFullGateway(config, temporaryDirectory())
measured(gateway.url)
