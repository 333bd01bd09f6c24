/** The yardstick of the console: a page as Vite makes it for a new React project, built and served like the console. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

const INDEX = '<!doctype html><html lang="en"><body><div id="root"></div><script type="module" src="/main.jsx"></script></body></html>'
const MAIN = `
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

function App() {
  const [count, setCount] = useState(0)
  return <main><h1>Get started</h1><button type="button" onClick={() => setCount(count + 1)}>Count is {count}</button></main>
}

createRoot(document.getElementById('root')).render(<StrictMode><App /></StrictMode>)
`
const CONFIG = "import react from '@vitejs/plugin-react'\nexport default { plugins: [react()], logLevel: 'error' }\n"
const VITE = fileURLToPath(new URL('../node_modules/vite/bin/vite.js', import.meta.url))
const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

/** Builds and serves the page. Below the console's folder, so that it finds the same React. */
export async function serveTemplate(): Promise<AsyncDisposable & { url: string }> {
  const root = await mkdtemp(join(fileURLToPath(new URL('../console', import.meta.url)), '.template-'))
  await writeFile(join(root, 'index.html'), INDEX)
  await writeFile(join(root, 'main.jsx'), MAIN)
  await writeFile(join(root, 'vite.config.mjs'), CONFIG)
  execFileSync(process.execPath, [VITE, 'build', root], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const server = createServer(async ({ url = '/' }, reply) => {
    const path = url === '/' ? '/index.html' : url
    const file = await readFile(join(root, 'dist', path)).catch(() => null)
    if (file === null) return void reply.writeHead(404).end()
    const type = TYPES[path.split('.').at(-1) as string] ?? 'application/octet-stream'
    reply.writeHead(200, { 'content-type': type, 'content-encoding': 'br' }).end(brotliCompressSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
