/** What the guide to webhooks uses of Next.js 13.2 to 16, which is no dependency: `next dev <folder> --port <port>` with route handlers for POST. */
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, , port] = process.argv.slice(2)

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { POST } = await import(pathToFileURL(resolve(folder, 'app', request.url.slice(1), 'route.js')))
  const { status } = await POST(
    new Request(`http://127.0.0.1${request.url}`, { method: 'POST', headers: request.headers, body: Buffer.concat(chunks) }),
  )
  response.writeHead(status).end()
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('Ready\n'))
