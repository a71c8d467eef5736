import { createHmac } from 'node:crypto'
import { ConfigError } from '../core/errors.ts'

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/

/** Signs a body as Standard Webhooks say: `v1,` and the HMAC-SHA256 over id, timestamp and body. */
export type Sign = (id: string, timestamp: number, body: string) => string

/** @throws ConfigError for a secret of another form; it is not repeated in the message */
export function signer(secret: string, path: string): Sign {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64')
  if (key.length < 24 || key.length > 64) {
    throw new ConfigError(`${path} is no Standard Webhooks secret.`, {
      path,
      hint: 'It must be whsec_ and then 24 to 64 bytes as base64, as of: echo "whsec_$(openssl rand -base64 32)".',
    })
  }
  return (id, timestamp, body) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
