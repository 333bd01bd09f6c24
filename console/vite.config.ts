import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressFiles } from './build/compress.ts'

let outDir = fileURLToPath(new URL('./dist', import.meta.url))
/** The server that `npm run console` talks to. */
const SERVER = 'http://127.0.0.1:3000'

// biome-ignore lint/style/noDefaultExport: Vite reads its configuration from the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The server writes a nonce of its own into each reply (`server/src/console-site`).
  html: { cspNonce: '__NONCE__' },
  plugins: [
    react(),
    {
      name: 'compress',
      apply: 'build',
      configResolved: ({ build }) => {
        outDir = build.outDir
      },
      // Not `closeBundle`, which runs after a build that failed too, and would hide why.
      writeBundle: () => compressFiles(outDir),
    },
  ],
  build: {
    outDir,
    emptyOutDir: true,
    assetsDir: 'console/assets',
    assetsInlineLimit: 0,
    target: 'es2023',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(['/api', '/docs', '/openapi.json', '/version', '/readyz'].map((path) => [path, SERVER])) },
})
