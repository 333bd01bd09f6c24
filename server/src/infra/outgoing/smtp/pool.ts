/**
 * The connections to one relay. Mails wait in order for a free connection; another one is opened while there are fewer than allowed. A
 * mail whose connection was lost before the relay could have it goes to the next one.
 */
import type { Socket } from 'node:net'
import type { Reply } from '../../../lib/smtp/replies.ts'
import { CLOSING, type Envelope, type MailResult, type OpenMail, type Refusal, refusalOf } from '../../../lib/smtp/session.ts'
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts'
import type { FailedStage, Failure, Peer } from './failures.ts'

/** What happened to a mail: the reply of the relay, or why there is none. `uncertain`: the relay may have it. */
export type PoolResult = (MailResult & { peer: Peer }) | Failure | { is: 'uncertain'; peer: Peer; reply?: Reply }

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
  /** Whether no mail is without a result. */
  isUnused(): boolean
  close(): void
}

/**
 * `open`: all mails without a result, in the order in which they came. `sent`: the connections with a session, and how many mails each was
 * given. `opening`: connections that have none yet. `unopened`: why others got none, while it is not known if one of those will.
 */
type State = PoolOptions & {
  open: Set<Waiting>
  waiting: Waiting[]
  sent: Map<Connection<Waiting>, number>
  opening: number
  unopened: Failure[]
  /** How many connections the relay seems to take, and until when that counts, by `performance.now`. */
  taken: { connections: number; until: number }
  isWatched: boolean
  isClosed: boolean
}

/** Relays limit how many mails they take over a connection. */
const MAILS_PER_CONNECTION_MAX = 500
const LOSSES_MAX = 2
/** For how long no more connections are tried than the relay took when it refused one. */
const TAKEN_MS = 10_000
const TIMED_OUT = ['ETIMEDOUT', 'The relay did not respond in time'] as const

export function createPool(options: PoolOptions): Pool {
  const state: State = {
    ...options,
    open: new Set(),
    waiting: [],
    sent: new Map(),
    opening: 0,
    unopened: [],
    taken: { connections: 0, until: 0 },
    isWatched: false,
    isClosed: false,
  }
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
    isUnused: () => state.open.size === 0,
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
  const { waiting, sent, unopened } = state
  for (const connection of sent.keys()) if (waiting.length > 0 && connection.isIdle() && hasRoom(state, connection)) give(state, connection)
  for (const connection of sent.keys()) while (waiting.length > state.opening && hasRoom(state, connection)) give(state, connection)
  const rest = connectionsMax(state) - sent.size - unopened.length
  while (!state.isClosed && state.opening < Math.min(waiting.length - unopened.length, rest)) void openAnother(state)
}

const connectionsMax = ({ connections, taken }: State): number =>
  performance.now() < taken.until ? Math.min(connections, taken.connections) : connections

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
  const failure = await openSession(state)
  state.opening--
  if (failure) state.unopened.push(failure)
  refuseUnopened(state)
  distribute(state)
}

/**
 * A connection that cannot be opened refuses one mail; the others may find the relay better. But while others are open, the relay limits
 * connections, and the mails go over those.
 */
function refuseUnopened(state: State): void {
  const { unopened, sent, opening, waiting } = state
  if (unopened.length === 0) return
  if (sent.size > 0) {
    unopened.length = 0
    state.taken = { connections: sent.size + opening, until: performance.now() + TAKEN_MS }
    // The mails may be waiting for connections that are slow.
    AbortSignal.timeout(TAKEN_MS + 1).addEventListener('abort', () => distribute(state))
  } else if (opening === 0) for (const failure of unopened.splice(0)) waiting.shift()?.resolve(failure)
}

const DNS_CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT']

/** The stage of an error before there was a connection. */
const stageBefore = ({ code = '' }: NodeJS.ErrnoException): FailedStage => (DNS_CODES.includes(code) ? 'DNS' : 'CONNECT')

/** Opens a connection with a session. Returns why there is none, also if the relay has ended it at once. */
async function openSession(state: State): Promise<Failure | null> {
  try {
    const opened = await beginSession(state, await state.connect())
    return opened.failure
  } catch (error) {
    return { is: 'broken', stage: stageBefore(error as NodeJS.ErrnoException), error: error as Error }
  }
}

/** Resolves when the session is open, or cannot be opened. `failure` is set once it has ended. */
const beginSession = (state: State, socket: Socket): Promise<{ failure: Failure | null }> =>
  new Promise((resolve) => {
    const { sent } = state
    const opened: { failure: Failure | null } = { failure: null }
    const connection = openConnection<Waiting>(socket, state.session, {
      ready() {
        if (state.isClosed) connection.destroy('ECLOSED', 'The server is stopping')
        else sent.set(connection, 0)
        resolve(opened)
      },
      finished(mail, result) {
        const isEnd = result.is === 'refused' && result.reply.code === CLOSING && result.stage !== 'DATA'
        if (isEnd && (sent.get(connection) ?? 0) > 1) retry(state, mail, { ...result, peer: connection.peer() })
        else mail.resolve({ ...result, peer: connection.peer() })
        distribute(state)
        // The relay counts the connection until it is closed.
        if (connection.isIdle() && (sent.get(connection) ?? 0) >= MAILS_PER_CONNECTION_MAX) connection.quit()
      },
      closed(failure, open) {
        const isFirst = sent.get(connection) === 1
        sent.delete(connection)
        for (const one of open.toReversed()) lose(state, one, failure, isFirst)
        opened.failure = failure
        resolve(opened)
        distribute(state)
      },
    })
  })

/** The connection of a mail was closed. What the relay has said about the mail counts, unless it ends all its sessions after some mails. */
function lose(state: State, { mail, stage, replies, hasBody }: OpenMail<Waiting>, failure: Failure, isFirst: boolean): void {
  const { peer = {} } = failure
  const refusal = refusalOf(replies) ?? closingOf(replies.recipients)
  if (refusal && (isFirst || refusal.reply.code !== CLOSING)) mail.resolve({ ...refusal, peer })
  else if (hasBody) mail.resolve({ is: 'uncertain', peer })
  else if (refusal) retry(state, mail, { ...refusal, peer })
  else retry(state, mail, failure.is === 'broken' ? { ...failure, stage } : failure)
}

/** The end of the session, as the reply about the recipient of a copy. */
function closingOf(recipients: readonly Reply[]): Refusal | null {
  const reply = recipients.find(({ code }) => code === CLOSING)
  return reply ? { is: 'refused', stage: 'RCPT', reply } : null
}

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
