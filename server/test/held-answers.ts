/** Stands between a server and PostgreSQL, and passes no answer on while some statements of a group are on the way and others are not. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type HeldAnswers = AsyncDisposable & {
  /** Leads to the database of `url`. */
  url: string
  /** The groups that were sent whole: what waits for an answer within a group waits for ever. */
  complete(): string[]
}

/** Opens one in front of the database of `url`, which is reached over TCP. A group is parts of the texts of its statements. */
export async function openHeldAnswers(url: string, groups: Record<string, string[]>): Promise<HeldAnswers> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const missing = new Map(Object.entries(groups).map(([name, parts]) => [name, new Set(parts)]))
  const held: (() => void)[] = []
  /** The connections with statements of a group. Others may still have to open. */
  const inGroup = new Set<Socket>()
  const isPartly = ([name, parts]: [string, Set<string>]) => parts.size > 0 && parts.size < (groups[name] as string[]).length
  const isHolding = () => [...missing].some(isPartly)

  function sent(client: Socket, text: string): void {
    for (const parts of missing.values()) for (const part of parts) if (text.includes(part) && parts.delete(part)) inGroup.add(client)
    if (!isHolding()) for (const pass of held.splice(0)) pass()
  }

  const server = createServer((client) => {
    const database = connect(Number(port), hostname)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => [client, database].map((one) => one.destroy()))
    }
    client.on('data', (data) => {
      sent(client, data.toString('latin1'))
      database.write(data)
    })
    database.on('data', (data) => {
      if (isHolding() && inGroup.has(client)) held.push(() => client.write(data))
      else client.write(data)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: Object.assign(new URL(url), { search: '', port: String((server.address() as AddressInfo).port) }).href,
    complete: () => [...missing].flatMap(([name, parts]) => (parts.size === 0 ? [name] : [])),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
