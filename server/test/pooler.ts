/** Stands between a client and PostgreSQL as poolers do: passes no start-up parameter on but those that they know, and keeps what it was asked for. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Pooler = AsyncDisposable & {
  /** Leads to the database of `url` through the pooler. */
  url: string
  /** The start-up parameters of each connection. */
  asked: Record<string, string>[]
  /** Ends all connections as PgBouncer does when PostgreSQL has crashed. */
  crash(): void
}

const KNOWN = ['user', 'database', 'client_encoding', 'application_name']
const LENGTH_BYTES = 4
const HEADER_BYTES = 8

/** Opens one in front of the database of `url`, which is reached over TCP. */
export async function openPooler(url: string): Promise<Pooler> {
  const { hostname, port } = new URL(url)
  const asked: Pooler['asked'] = []
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(Number(port), hostname)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => [client, database].map((one) => one.destroy()))
    }
    clients.add(client)
    client.once('close', () => clients.delete(client))
    client.once('data', (first) => {
      const parameters = parametersOf(first as Buffer)
      asked.push(parameters)
      database.write(startUp((first as Buffer).readInt32BE(LENGTH_BYTES), parameters))
      client.pipe(database)
      database.pipe(client)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: Object.assign(new URL(url), { search: '', port: String((server.address() as AddressInfo).port) }).href,
    asked,
    crash() {
      for (const client of clients) client.end(fatal('08P01', 'server conn crashed?'))
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A message that ends a connection. Poolers have the fields of old versions of PostgreSQL. */
function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(LENGTH_BYTES + fields.length, 1)
  return Buffer.concat([head, fields])
}

function parametersOf(message: Buffer): Record<string, string> {
  const words = message.toString('utf8', HEADER_BYTES).split('\0')
  return Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 && word !== '' ? [[word, words[at + 1] ?? '']] : [])))
}

function startUp(version: number, parameters: Record<string, string>): Buffer {
  const known = KNOWN.flatMap((name) => (parameters[name] === undefined ? [] : [`${name}\0${parameters[name]}\0`]))
  const body = Buffer.from(`${known.join('')}\0`)
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeInt32BE(HEADER_BYTES + body.length)
  head.writeInt32BE(version, LENGTH_BYTES)
  return Buffer.concat([head, body])
}
