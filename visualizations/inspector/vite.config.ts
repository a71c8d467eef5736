import { resolve } from 'node:path'

import { defineConfig } from 'vite'
import dashboard from '../dashboard/vite.config.ts'

const page = resolve(import.meta.dirname, 'index.html')

export default defineConfig({
  ...dashboard,
  build: { ...dashboard.build, rolldownOptions: { input: page } },
})
