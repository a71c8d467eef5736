import { resolve } from 'node:path'

import { defineConfig } from 'vite'

export default defineConfig({
  // relative, so that the page also works behind a path of a proxy
  base: './',
  build: {
    rolldownOptions: {
      input: ['index.html', 'inspect.html'].map((page) => resolve(import.meta.dirname, page)),
    },
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // a data: address would need an exception in the policy of the page
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
