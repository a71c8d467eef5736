import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['development'] },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    restoreMocks: true,
  },
})
