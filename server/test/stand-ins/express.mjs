/** What the guide to webhooks uses of Express 4.17 and 5, which is no dependency: routes for POST, raw bodies, and replies with a status. */
import { createServer } from 'node:http'

/** An application with routes for POST. */
// biome-ignore lint/style/noDefaultExport: Express is imported as a default export.
export default function express() {
  const routes = new Map()
  const server = createServer(async (request, response) => {
    const run = routes.get(request.url)
    const handlers = request.method === 'POST' && run ? run : [(_, reply) => reply.sendStatus(404)]
    request.get = (name) => request.headers[name.toLowerCase()]
    response.sendStatus = (status) => response.writeHead(status).end()
    for (const handler of handlers) await handler(request, response)
  })
  return {
    post: (path, ...handlers) => routes.set(path, handlers),
    listen: (port, ready) => server.listen(port, '127.0.0.1', ready),
  }
}

/** Reads a body of the type into a buffer, like `express.raw`. Other bodies stay undefined, as in Express 5; in Express 4 they are `{}`. */
express.raw =
  ({ type }) =>
  async (request) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    request.body = request.get('content-type')?.startsWith(type) ? Buffer.concat(chunks) : undefined
  }
