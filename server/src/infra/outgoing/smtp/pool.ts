/**
 * The connections to one relay. Mails wait in order for a free connection; another one is opened while there are fewer than allowed. A
 * mail whose connection was lost before the relay could have it goes to the next one.
 */
import type { Socket } from 'node:net'
import type { Envelope, MailResult } from '../../../lib/smtp/session.ts'
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts'
import type { FailedStage, Failure, Peer } from './failures.ts'

/** What happened to a mail: the reply of the relay, or why there is none. `uncertain`: the relay may have it. */
export type PoolResult = (MailResult & { peer: Peer }) | Failure | { is: 'uncertain'; peer: Peer }

/** A mail without a result. `losses`: how often its connection was lost. */
type Waiting = {
  envelope: Envelope
  content: Buffer
  resolve(result: PoolResult): void
  losses: number
  on: Connection<Waiting> | null
  /** When it is given up, by `performance.now`. */
  until: number
}

/** After `totalMs` a mail is given up. */
export type PoolOptions = { connections: number; connect(): Promise<Socket>; session: ConnectionOptions; totalMs: number }

export type Pool = {
  /** Resolves with the result. */
  send(envelope: Envelope, content: Buffer): Promise<PoolResult>
  close(): void
}

/** `open`: all mails without a result, in the order in which they came. `opening`: connections that have no session yet. */
type State = PoolOptions & {
  open: Set<Waiting>
  waiting: Waiting[]
  sent: Map<Connection<Waiting>, number>
  opening: number
  isWatched: boolean
  isClosed: boolean
}

/** Relays limit how many mails they take over a connection. */
const MAILS_PER_CONNECTION_MAX = 500
const LOSSES_MAX = 2
const TIMED_OUT = ['ETIMEDOUT', 'The relay did not respond in time'] as const

export function createPool(options: PoolOptions): Pool {
  const state: State = { ...options, open: new Set(), waiting: [], sent: new Map(), opening: 0, isWatched: false, isClosed: false }
  return {
    send: (envelope, content) =>
      new Promise((resolve) => {
        const mail: Waiting = { envelope, content, losses: 0, on: null, resolve, until: performance.now() + options.totalMs }
        mail.resolve = (result) => {
          state.open.delete(mail)
          resolve(result)
        }
        state.open.add(mail)
        state.waiting.push(mail)
        watch(state)
        distribute(state)
      }),
    close() {
      state.isClosed = true
      for (const connection of [...state.sent.keys()]) connection.destroy('ECLOSED', 'The server is stopping')
      for (const mail of state.waiting.splice(0)) mail.resolve(broken('ECLOSED', 'The server is stopping'))
    },
  }
}

const broken = (code: string, reason: string): Failure => ({
  is: 'broken',
  stage: 'CONNECT',
  error: Object.assign(new Error(reason), { code }),
})

/** Gives up mails whose time is over. One timer is for the oldest mail: thousands of them, one for each, would cost more than sending. */
function watch(state: State): void {
  const [oldest] = state.open
  if (!oldest || state.isWatched) return
  state.isWatched = true
  AbortSignal.timeout(Math.max(1, Math.ceil(oldest.until - performance.now()))).addEventListener('abort', () => {
    state.isWatched = false
    const now = performance.now()
    for (const mail of [...state.open]) {
      if (mail.until > now) break
      abandon(state, mail)
    }
    watch(state)
  })
}

/**
 * Gives waiting mails to idle connections, then behind those that others are sent over, and opens further connections if some are left. Mails
 * for which a connection is being opened do not wait for the reply to another one.
 */
function distribute(state: State): void {
  const { waiting, sent } = state
  for (const connection of sent.keys()) if (waiting.length > 0 && connection.isIdle() && hasRoom(state, connection)) give(state, connection)
  for (const connection of sent.keys()) while (waiting.length > state.opening && hasRoom(state, connection)) give(state, connection)
  while (!state.isClosed && state.opening < waiting.length && state.opening + sent.size < state.connections) void openAnother(state)
}

const hasRoom = ({ sent }: State, connection: Connection<Waiting>): boolean =>
  connection.isFree() && (sent.get(connection) ?? 0) < MAILS_PER_CONNECTION_MAX

function give({ waiting, sent }: State, connection: Connection<Waiting>): void {
  const mail = waiting.shift() as Waiting
  sent.set(connection, (sent.get(connection) ?? 0) + 1)
  mail.on = connection
  connection.send(mail, mail.envelope, mail.content)
}

async function openAnother(state: State): Promise<void> {
  state.opening++
  try {
    await openSession(state, await state.connect())
  } catch (error) {
    refuseNext(state, { is: 'broken', stage: stageBefore(error as NodeJS.ErrnoException), error: error as Error })
  } finally {
    state.opening--
    distribute(state)
  }
}

const DNS_CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT']

/** The stage of an error before there was a connection. */
const stageBefore = ({ code = '' }: NodeJS.ErrnoException): FailedStage => (DNS_CODES.includes(code) ? 'DNS' : 'CONNECT')

/** Resolves when the session is open, or cannot be opened. */
const openSession = (state: State, socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const { sent } = state
    let wasReady = false
    const connection = openConnection<Waiting>(socket, state.session, {
      ready() {
        wasReady = true
        if (state.isClosed) connection.destroy('ECLOSED', 'The server is stopping')
        else sent.set(connection, 0)
        resolve()
      },
      finished(mail, result) {
        mail.resolve({ ...result, peer: connection.peer() })
        distribute(state)
        if (connection.isIdle() && (sent.get(connection) ?? 0) >= MAILS_PER_CONNECTION_MAX) {
          sent.delete(connection)
          connection.quit()
        }
      },
      closed(failure, open) {
        sent.delete(connection)
        for (const { mail, stage, hasBody } of open.toReversed()) {
          if (hasBody) mail.resolve({ is: 'uncertain', peer: failure.peer ?? {} })
          else retry(state, mail, failure.is === 'broken' ? { ...failure, stage } : failure)
        }
        if (!wasReady) refuseNext(state, failure)
        resolve()
        distribute(state)
      },
    })
  })

/** A connection that cannot be opened refuses one mail. The others may find the relay better. */
const refuseNext = ({ waiting }: State, failure: Failure): void => waiting.shift()?.resolve(failure)

function retry({ waiting, isClosed }: State, mail: Waiting, failure: Failure): void {
  mail.on = null
  mail.losses++
  if (isClosed || mail.losses > LOSSES_MAX) mail.resolve(failure)
  else waiting.unshift(mail)
}

/** Gives up a mail that waits, or whose relay is silent: its connection with it. */
function abandon({ waiting }: State, mail: Waiting): void {
  const at = waiting.indexOf(mail)
  if (at !== -1) waiting.splice(at, 1)
  mail.losses = LOSSES_MAX
  if (mail.on) mail.on.destroy(...TIMED_OUT)
  else mail.resolve(broken(...TIMED_OUT))
}
