import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// the suites that prove the rules, without servers and SDKs
export default mergeConfig(
  base,
  defineConfig({
    test: {
      include: [
        'test/machines/every-edge.test.ts',
        'test/machines/oracle-*.test.ts',
        'test/scenarios/scenarios.test.ts',
      ],
      bail: 1,
    },
  }),
)
