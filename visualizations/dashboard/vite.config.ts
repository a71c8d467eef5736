import { defineConfig } from 'vite'

export default defineConfig({
  // relative, so that the page also works behind a path of a proxy
  base: './',
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // a data: address would need an exception in the policy of the page
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
