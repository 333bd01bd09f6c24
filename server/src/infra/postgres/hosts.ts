/** Connections to the servers that a URL names, of which one at a time accepts writes. */
import { Socket } from 'node:net'
import pg from 'pg'
import { databaseHosts } from '../../lib/database-url.ts'
import { withKnownStatements } from './known-statements.ts'
import { allowLongTransactions } from './limits.ts'

const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_AFTER_MS = 10_000

/** A server that answers and cannot be used. */
export class UnusableServer extends Error {}

export type Hosts = {
  /** How many attempts it takes to try each. */
  count: number
  /** A client of the driver that connects to the host which worked last. When that fails, the next client tries the next host. */
  Client: typeof pg.Client
  /** Did connecting to a host fail with this error, so that another one may be tried? */
  isOfHost(error: unknown): boolean
  /** The number of the host of a client. */
  hostOf(client: object): number | undefined
  /** Whether a host answers a new connection, with a refusal too. Its name may lead to several servers: `address` is that of the one that is meant. */
  answers(host: number, withinMs: number, address?: string): Promise<boolean>
  /** Lets the next client try another host, if this is the one that worked last. */
  leave(host: number): void
}

/** The callbacks that the driver takes. */
type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

/** What PostgreSQL reports when a connection opens. */
type Reported = Record<string, string>

/** Whether what a connection has prepared stays in the session of one server; absent for connections of the driver as it is. */
type Kind = { isDirect?: boolean; keepsStatements?: boolean }

/**
 * The hosts of a URL. If it wants one that accepts writes, others are passed over. With `isDirect`, so are connections whose time zone is
 * another one: something between this process and PostgreSQL removed the start-up parameters. Transactions of the others are not limited.
 */
export function openHosts(url: string, { isDirect = false, keepsStatements }: Kind = {}): Hosts {
  const { urls, needsPrimary } = databaseHosts(url) ?? { urls: [url], needsPrimary: false }
  const failures = new WeakSet<object>()
  const hostOf = new WeakMap<object, number>()
  let current = 0
  const leave = (host: number) => {
    // Several may fail on the same host at the same time.
    if (current === host) current = (current + 1) % urls.length
  }

  class HostClient extends pg.Client {
    readonly #host = current
    readonly #reported: Reported = {}

    constructor(config: pg.ClientConfig = {}) {
      super({ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS, ...config, ...withOptions(urls[current] ?? url, config) })
      if (keepsStatements !== undefined) withKnownStatements(this, keepsStatements)
      hostOf.set(this, this.#host)
      // The next statement reports a lost connection. Without a listener, the event would end the process.
      this.on('error', () => undefined)
      const { connection } = this as unknown as { connection: NodeJS.EventEmitter }
      connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        this.#reported[parameterName] = parameterValue
      })
    }

    override connect(): Promise<pg.Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      const connected: Promise<pg.Client> = super.connect().then(
        () => this.#check(),
        (error) => this.#fail(error),
      )
      if (!callback) return connected
      const call = callback as (error: Error | null, client?: pg.Client) => void
      connected.then((client) => call(null, client), call)
      return undefined
    }

    async #check(): Promise<this> {
      try {
        const problem = problemOf(this.#reported, { needsPrimary, isDirect })
        if (problem) throw problem
        if (isDirect) await this.query(allowLongTransactions(false))
        return this
      } catch (error) {
        void this.end()
        return this.#fail(error as Error)
      }
    }

    #fail(error: Error): never {
      failures.add(error)
      leave(this.#host)
      throw error
    }
  }

  return {
    count: urls.length,
    Client: HostClient,
    isOfHost: (error) => error instanceof Error && (failures.has(error) || (error.cause instanceof Error && failures.has(error.cause))),
    hostOf: (client) => hostOf.get(client),
    answers: (host, withinMs, address) => doesAnswer(urls[host] ?? url, withinMs, address),
    leave,
  }
}

type Wanted = { needsPrimary: boolean; isDirect: boolean }

function problemOf(
  { TimeZone, in_hot_standby, default_transaction_read_only }: Reported,
  { needsPrimary, isDirect }: Wanted,
): UnusableServer | null {
  if (needsPrimary && (in_hot_standby === 'on' || default_transaction_read_only === 'on'))
    return new UnusableServer('This PostgreSQL does not accept writes.')
  if (isDirect && TimeZone !== 'UTC')
    return new UnusableServer(
      `The time zone of the connection to PostgreSQL is ${TimeZone}, although UTC was requested. If DATABASE_URL points to a pooler, set DATABASE_DIRECT_URL.`,
    )
  return null
}

async function doesAnswer(connectionString: string, withinMs: number, address?: string): Promise<boolean> {
  const client = clientFor({
    ...{ connectionString, connectionTimeoutMillis: withinMs, application_name: 'carillon check' },
    ...(address !== undefined && { stream: () => socketTo(address) }),
  })
  // Only the question failed: the host may answer.
  if (!client) return true
  client.on('error', () => undefined)
  // Before TLS takes its place.
  const { stream } = (client as unknown as { connection: { stream: { bytesRead: number } } }).connection
  try {
    await client.connect()
    void client.end()
    return true
  } catch {
    return stream.bytesRead > 0
  }
}

/**
 * The driver reads the certificates of the URL from their files. Null if one cannot be read: then no connection can be opened, and those that are
 * open are all that is left.
 */
function clientFor(config: pg.ClientConfig): pg.Client | null {
  try {
    return new pg.Client(config)
  } catch {
    return null
  }
}

/** A socket that connects to this address, wherever the name of the host leads, with which TLS is still checked. */
function socketTo(address: string): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  return Object.assign(socket, { connect: (port: number) => connect(port, address) })
}

/** Options of the URL hold beside ours. The driver would take one or the other. */
function withOptions(connectionString: string, { options }: pg.ClientConfig): pg.ClientConfig {
  const given = URL.parse(connectionString)
  const ofUrl = given?.searchParams.get('options')
  if (!given || !ofUrl || options === undefined) return { connectionString }
  given.searchParams.delete('options')
  return { connectionString: given.href, options: `${ofUrl} ${options}` }
}

/** Opens a connection to the first host that works. Throws the error of the last one. */
export async function connectTo(url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const hosts = openHosts(url)
  for (let tries = 1; ; tries++) {
    const client = new hosts.Client({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ...config })
    try {
      await client.connect()
      return client
    } catch (error) {
      if (tries >= hosts.count) throw error
    }
  }
}

/** Runs `work` on a connection of its own. */
export async function withConnection<T>(url: string, config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectTo(url, config)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
