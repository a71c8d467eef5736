import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

// the suites that prove the rules, without servers and SDKs
const include = ['test/machines/*.test.ts', 'test/scenarios/scenarios.test.ts']

export default defineConfig({ ...base, test: { ...base.test, include, bail: 1 } })
