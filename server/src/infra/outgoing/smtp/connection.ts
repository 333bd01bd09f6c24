/** One connection to a relay or a mail host: the socket, TLS and the time limits around the state machine of `lib/smtp`. */
import { isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import { createReplyReader, type Reply } from '../../../lib/smtp/replies.ts'
import {
  type Action,
  createSession,
  type Envelope,
  type MailResult,
  type MayBeSent,
  type OpenMail,
  type Session,
  type SessionOptions,
} from '../../../lib/smtp/session.ts'
import { type FailedStage, type Failure, type Peer, withoutTls } from './failures.ts'
import { limitOf, type SessionLimits } from './time-limits.ts'

export type ConnectionOptions = SessionOptions & {
  /** The name that the certificate must have. */
  host: string
  isImplicitTls: boolean
  secureContext: SecureContext
  rejectUnauthorized: boolean
  /** Decides about a certificate instead of the trusted roots. Returns why it is refused, or null. */
  refusesCertificate?(tls: TLSSocket): string | null
  /** What is known of the host. */
  known?: Pick<Peer, 'isDane' | 'hadBrokenTls'>
  limits: SessionLimits
}

export type Events<M> = {
  /** The session is open. */
  ready(): void
  /** Called once for each mail that gets a reply. */
  finished(mail: M, result: MailResult): void
  /** Called once. `open` are the mails without a reply and their stages; the server may have those with `hasBody`. */
  closed(failure: Failure, open: OpenMail<M>[]): void
  /** The content of a mail was written, and the next mail can begin before the reply to it. */
  overlappable?(): void
}

export type Connection<M> = {
  /** Whether it takes a mail now. */
  isFree(): boolean
  /** Whether no mail is under way. */
  isIdle(): boolean
  /** The extension without which the server cannot take a mail. */
  lacks: Session<M>['lacks']
  send(mail: M, envelope: Envelope, content: Buffer, mayBeSent?: MayBeSent): void
  peer(): Peer
  /** Says goodbye. */
  quit(): void
  destroy(code: string, reason: string): void
}

/** `socket` is the one to write to: with TLS, not the one that was connected. */
type Link<M> = {
  readonly options: ConnectionOptions
  readonly events: Events<M>
  readonly session: Session<M>
  readonly reader: ReturnType<typeof createReplyReader>
  socket: Socket
  /** The address that it is connected to. A socket that was closed knows it no longer. */
  readonly ip: string | undefined
  /** Read when TLS begins: to ask a socket that was closed crashes the process. */
  tls?: Peer['tls']
  /** Whether TLS is being established. */
  isSecuring: boolean
  /** Whether content is being written, and what finished meanwhile: a server may reply before it has all, and content may be freed then. */
  isWriting: boolean
  finishing: (() => void)[]
  /** When the stage has taken too long, by `performance.now`. */
  deadline: number
  isClosed: boolean
}

/** Opens a session on a connected socket. */
export function openConnection<M>(socket: Socket, options: ConnectionOptions, events: Events<M>): Connection<M> {
  const session = createSession<M>(options)
  const link: Link<M> = {
    options,
    events,
    session,
    reader: createReplyReader(),
    socket,
    ip: socket.remoteAddress,
    isSecuring: false,
    isWriting: false,
    finishing: [],
    deadline: 0,
    isClosed: false,
  }
  socket.setNoDelay(true)
  listen(link, socket)
  if (options.isImplicitTls) startTls(link, () => undefined)
  else {
    socket.on('data', (bytes) => receive(link, bytes))
    beginStage(link)
  }
  return {
    isFree: () => !link.isClosed && session.isFree(),
    isIdle: session.isIdle,
    lacks: session.lacks,
    send(mail, envelope, content, mayBeSent) {
      const wasIdle = session.awaits() === null
      act(link, session.begin(mail, envelope, content, mayBeSent))
      if (wasIdle) beginStage(link)
    },
    peer: () => peerOf(link),
    quit: () => {
      if (!link.isClosed) quit(link)
    },
    destroy: (code, reason) => breakOff(link, code, reason),
  }
}

function peerOf<M>({ ip, tls, session, options }: Link<M>): Peer {
  const plainBecause = session.plainBecause()
  return {
    ...(ip !== undefined && { ip }),
    ...(tls && { tls }),
    ...(plainBecause !== null && { plainBecause }),
    ...options.known,
  }
}

function listen<M>(link: Link<M>, socket: Socket): void {
  const lost = () => breakOff(link, 'ECONNECTION', 'The server closed the connection')
  socket.on('error', (error) => close(link, { is: 'broken', stage: stageOf(link), error, peer: peerOf(link) }))
  socket.on('end', lost)
  socket.on('close', lost)
  socket.on('timeout', () => {
    if (link.session.awaits() === null && !link.isSecuring && !link.isWriting) quit(link)
    else breakOff(link, link.isSecuring ? 'ETLS' : 'ETIMEDOUT', 'The server did not respond in time')
  })
}

/** The stage of the session; of a mail only when the session was open. */
function stageOf<M>(link: Link<M>): FailedStage {
  const { session, options } = link
  if (link.isSecuring) return options.isImplicitTls ? 'TLS' : 'STARTTLS'
  return session.open()[0]?.stage ?? session.stage()
}

const breakOff = <M>(link: Link<M>, code: string, reason: string, stage: FailedStage = stageOf(link)): void =>
  close(link, { is: 'broken', stage, error: Object.assign(new Error(reason), { code }), peer: peerOf(link) })

function close<M>(link: Link<M>, failure: Failure): void {
  if (link.isClosed) return
  link.isClosed = true
  link.socket.destroy()
  finishWritten(link)
  link.events.closed(failure, link.session.open())
}

function quit<M>(link: Link<M>): void {
  act(link, link.session.quit())
  beginStage(link)
}

/** Begins to measure the time of what is awaited now. */
function beginStage<M>(link: Link<M>): void {
  if (link.isClosed) return
  const { session, isWriting } = link
  const writing = isWriting ? (session.open()[0]?.size ?? 0) : null
  const limitMs = limitOf(link.options.limits, session.awaits(), writing)
  link.deadline = performance.now() + limitMs
  link.socket.setTimeout(isWriting ? link.options.limits.blockMs : limitMs)
}

/** After bytes that completed no reply: what is left of the time. The timer of a socket begins anew with each byte. */
function continueStage<M>({ isClosed, deadline, socket }: Link<M>): void {
  if (!isClosed) socket.setTimeout(Math.max(1, Math.ceil(deadline - performance.now())))
}

/** Does what the session asks for. What it writes leaves as one. */
function act<M>(link: Link<M>, actions: Action<M>[]): void {
  const { socket } = link
  socket.cork()
  for (const action of actions) if (!link.isClosed) actOn(link, action)
  socket.uncork()
}

function actOn<M>(link: Link<M>, action: Action<M>): void {
  switch (action.do) {
    case 'write':
      link.socket.write(action.bytes)
      break
    case 'write content':
      writeContent(link, action.pieces)
      break
    case 'secure':
      secure(link)
      break
    case 'ready':
      link.events.ready()
      break
    case 'finish':
      link.finishing.push(() => link.events.finished(action.mail, action.result))
      if (!link.isWriting) finishWritten(link)
      break
    case 'refuse':
      close(link, { is: 'refused', stage: action.stage, reply: action.reply, peer: peerOf(link) })
      break
    case 'fail':
      if (action.why === 'TLS is not offered') close(link, withoutTls(peerOf(link), action.reply))
      else if (action.why === 'the mail is not to be sent') breakOff(link, 'ECLOSED', 'This server no longer holds the email')
      else breakOff(link, 'EPROTOCOL', 'The server sent an unexpected reply')
      break
    case 'close':
      breakOff(link, 'ECONNECTION', 'The server closed the connection')
      break
    default:
      action satisfies never
  }
}

function finishWritten<M>({ finishing }: Link<M>): void {
  for (const finish of finishing.splice(0)) finish()
}

function writeContent<M>(link: Link<M>, pieces: readonly Buffer[]): void {
  link.isWriting = true
  const written = (error?: Error | null) => {
    link.isWriting = false
    if (!error) endContent(link)
    finishWritten(link)
    if (!link.isSecuring) beginStage(link)
  }
  for (const [at, piece] of pieces.entries()) link.socket.write(piece, at === pieces.length - 1 ? written : undefined)
}

/** Ends a content that has left without its end, together with the commands of the next mail. */
function endContent<M>(link: Link<M>): void {
  const actions = link.isClosed ? [] : link.session.contentWritten()
  if (actions.length === 0) return
  const { socket } = link
  socket.cork()
  act(link, actions)
  offerOverlap(link)
  socket.uncork()
}

function offerOverlap<M>({ isClosed, session, events }: Link<M>): void {
  if (!isClosed && session.awaits() === 'body' && session.isFree()) events.overlappable?.()
}

/** Begins TLS after the reply to STARTTLS. What came after that reply did not come from the server that has the certificate. */
function secure<M>(link: Link<M>): void {
  if (!link.reader.isEmpty()) {
    breakOff(link, 'ETLS', 'The server sent text before TLS', 'STARTTLS')
    return
  }
  link.socket.removeAllListeners('data')
  startTls(link, () => act(link, link.session.secured()))
}

function receive<M>(link: Link<M>, bytes: Buffer): void {
  const { reader, session } = link
  let replies: Reply[]
  try {
    replies = reader.read(bytes)
  } catch (error) {
    close(link, { is: 'broken', stage: stageOf(link), error: error as Error, peer: peerOf(link) })
    return
  }
  // Corked, so that what follows from several replies leaves as one.
  const { socket } = link
  socket.cork()
  for (const reply of replies) if (!link.isClosed) act(link, session.receive(reply))
  offerOverlap(link)
  socket.uncork()
  if (link.isSecuring) return
  if (replies.length > 0) beginStage(link)
  else continueStage(link)
}

function startTls<M>(link: Link<M>, begin: () => void): void {
  const { host, secureContext, rejectUnauthorized, refusesCertificate, limits } = link.options
  const { socket } = link
  socket.setTimeout(0)
  // Only names can be asked for (RFC 6066 §3); the certificate is compared with `host` in any case.
  const tls = connectTls({ socket, secureContext, rejectUnauthorized, host, ...(isIP(host) === 0 && { servername: host }) })
  link.socket = tls
  link.isSecuring = true
  tls.setTimeout(limits.tlsMs)
  listen(link, tls)
  tls.on('data', (bytes) => receive(link, bytes))
  tls.once('secureConnect', () => {
    if (link.isClosed) return
    const refusal = refusesCertificate?.(tls)
    if (refusal) return breakOff(link, 'ETLS', refusal)
    link.isSecuring = false
    link.tls = { protocol: tls.getProtocol() ?? '', cipher: tls.getCipher().standardName, verified: refusal === null || tls.authorized }
    begin()
    beginStage(link)
  })
}
