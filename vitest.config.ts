import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    conditions: ['development'],
    // the examples import the package by its name
    alias: {
      'switchgear/testing': source('./src/testing/index.ts'),
      'switchgear/journal': source('./src/stores/index.ts'),
      'switchgear/telemetry': source('./src/telemetry/index.ts'),
      'switchgear/fetch': source('./src/adapters/fetch/index.ts'),
      'switchgear/inspect': source('./src/adapters/inspect/index.ts'),
      'switchgear/machines': source('./machines/index.ts'),
      switchgear: source('./src/index.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    restoreMocks: true,
    setupFiles: ['test/support/fixed-seed.ts'],
    // what CI counts
    reporters:
      process.env.CI === undefined ? ['default'] : ['default', ['json', { outputFile: 'reports/unit.json' }]],
  },
})
