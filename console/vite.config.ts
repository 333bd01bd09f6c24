import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressFiles } from './build/compress.ts'

let outDir = fileURLToPath(new URL('./dist', import.meta.url))
/** The server that `npm run console` talks to. */
const SERVER = 'http://127.0.0.1:3000'

/** Modules that several screens share, by the screens that use them. A group smaller than this joins its nearest, which costs screens that need one of them only. */
const SHARED_BYTES_MIN = 6000
const SCREENS_MIN = 4

/**
 * Left alone, the bundler makes a file of each set of modules that the same screens use: one screen then loads up to 140 files, six at a
 * time over HTTP/1.1. In these groups it loads about 25, which together are no larger.
 */
const CHUNKS = [
  { name: 'start', tags: ['$initial' as const], priority: 1 },
  { name: 'shared', minShareCount: SCREENS_MIN, entriesAware: true, entriesAwareMergeThreshold: SHARED_BYTES_MIN },
]

/** The bundler names a shared file after all screens that use it. */
const chunkFileNames = ({ name }: { name: string }) => `console/assets/${name.startsWith('shared') ? 'shared' : '[name]'}-[hash].js`

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
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS }, chunkFileNames } },
  },
  server: { proxy: Object.fromEntries(['/api', '/docs', '/openapi.json', '/version', '/readyz'].map((path) => [path, SERVER])) },
})
