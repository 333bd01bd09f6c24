/** One connection to a fake MX host: reads commands in order, also when they come together, and does what the script says. */
import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { type Answer, type At, EXTENSIONS, type MxHost, type MxStage, type Reaction } from './mx-host.ts'

type Session = {
  readonly host: MxHost
  readonly connection: number
  readonly secureContext: (() => Promise<SecureContext>) | null
  /** The connection below TLS. */
  readonly tcp: Socket
  socket: Socket
  rest: Buffer
  /** Whether a reaction is under way, so that no further command is read. */
  isBusy: boolean
  isInContent: boolean
  isDeaf: boolean
  tls: { protocol: string; servername: string } | null
  helo: string
  mail: number
  envelope: Envelope | null
}

type Envelope = { from: string; to: string[]; mailParameters: string; rcptParameters: string[] }

/** What comes of a command when the script does not answer it. `done` runs after a reply of success. */
type Step = { stage: MxStage | null; reply: string; isCapped?: true; done?: () => void }

const LINE_END = Buffer.from('\r\n')
const CONTENT_END = Buffer.from('\r\n.\r\n')
const GARBAGE = '\u0000\u0001\u0002 this is no TLS \r\n'

/** Speaks to a client that has connected. `secureContext` is null if the host has no TLS to offer. */
export function speakSmtp(socket: Socket, host: MxHost, secureContext: Session['secureContext']): void {
  const { counts } = host
  const session: Session = {
    host,
    connection: ++counts.made,
    secureContext,
    tcp: socket,
    socket,
    rest: Buffer.alloc(0),
    isBusy: false,
    isInContent: false,
    isDeaf: false,
    tls: null,
    helo: '',
    mail: 0,
    envelope: null,
  }
  counts.mailsPerConnection.push(0)
  counts.mostOpen = Math.max(counts.mostOpen, ++counts.open)
  socket.on('close', () => counts.open--)
  listen(session, socket)
  const { connectionsMax = Number.POSITIVE_INFINITY } = host.behaviour
  if (counts.open > connectionsMax) cap(session, '421 4.7.0 Too many connections')
  else react(session, '', { stage: 'GREETING', reply: `220 ${host.name} ESMTP` })
}

function listen(session: Session, socket: Socket): void {
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('data', (bytes: Buffer) => {
    session.rest = session.rest.length === 0 ? bytes : Buffer.concat([session.rest, bytes])
    read(session)
  })
}

/** Reads what has come, until something takes time. */
function read(session: Session): void {
  while (!session.isBusy && !session.isDeaf) {
    if (session.isInContent) {
      if (!readContent(session)) return
    } else {
      const end = session.rest.indexOf(LINE_END)
      if (end < 0) return
      const line = session.rest.toString('utf8', 0, end)
      session.rest = session.rest.subarray(end + 2)
      session.host.commands.push({ connection: session.connection, line })
      react(session, line, stepFor(session, line))
    }
  }
}

/** Reads the content up to its end. False if there is more to come. */
function readContent(session: Session): boolean {
  // An empty content is the dot alone.
  const isEmpty = session.rest.subarray(0, 3).equals(CONTENT_END.subarray(2))
  const end = isEmpty ? 0 : session.rest.indexOf(CONTENT_END)
  if (end < 0) return false
  const content = unstuffed(session.rest.subarray(0, isEmpty ? 0 : end + 2))
  session.rest = session.rest.subarray(isEmpty ? 3 : end + CONTENT_END.length)
  session.isInContent = false
  const envelope = session.envelope as Envelope
  session.envelope = null
  react(session, '.', { stage: 'BODY', reply: '250 2.0.0 Ok: queued', done: () => accept(session, envelope, content) }, envelope)
  return true
}

/** A line that begins with a dot was sent with a second one (RFC 5321 §4.5.2). */
function unstuffed(content: Buffer): Buffer {
  if (!content.includes('\r\n..') && content[0] !== 0x2e) return Buffer.from(content)
  return Buffer.from(content.toString('latin1').replace(/(^|\r\n)\.\./g, '$1.'), 'latin1')
}

const capabilities = (session: Session): string => {
  const { name, behaviour } = session.host
  const offersTls = session.tls === null && (behaviour.tls ?? 'valid') !== 'none'
  const lines = [name, ...(behaviour.extensions ?? EXTENSIONS), ...(offersTls ? ['STARTTLS'] : [])]
  return lines.map((line, index) => `250${index === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n')
}

function stepFor(session: Session, line: string): Step {
  const [verb = ''] = line.toUpperCase().split(/[ :]/, 1)
  switch (verb) {
    case 'EHLO':
    case 'HELO':
      return greet(session, verb, line)
    case 'STARTTLS':
      return { stage: 'STARTTLS', reply: '220 2.0.0 Ready to start TLS', done: () => void secure(session) }
    case 'MAIL':
      return beginMail(session, line)
    case 'RCPT':
      return addRecipient(session, line)
    case 'DATA':
      if (!session.envelope) return { stage: null, reply: '503 5.5.1 Need MAIL first' }
      if (session.envelope.to.length === 0) return { stage: null, reply: '554 5.5.1 No valid recipients' }
      return {
        stage: 'DATA',
        reply: '354 End data with <CR><LF>.<CR><LF>',
        done: () => {
          session.isInContent = true
        },
      }
    case 'RSET':
      return {
        stage: 'RSET',
        reply: '250 2.0.0 Ok',
        done: () => {
          session.envelope = null
        },
      }
    case 'NOOP':
      return { stage: 'NOOP', reply: '250 2.0.0 Ok' }
    case 'QUIT':
      return { stage: 'QUIT', reply: '221 2.0.0 Bye', done: () => session.socket.end() }
    default:
      return { stage: null, reply: '500 5.5.2 Unknown command' }
  }
}

function greet(session: Session, verb: 'EHLO' | 'HELO', line: string): Step {
  const done = () => {
    session.helo = line.slice(5)
    session.envelope = null
  }
  return { stage: verb, reply: verb === 'EHLO' ? capabilities(session) : `250 ${session.host.name}`, done }
}

function beginMail(session: Session, line: string): Step {
  const { mailsPerConnectionMax = Number.POSITIVE_INFINITY, mailsPerSecondMax = Number.POSITIVE_INFINITY } = session.host.behaviour
  if (session.envelope) return { stage: null, reply: '503 5.5.1 Nested MAIL' }
  if (session.mail >= mailsPerConnectionMax) return { stage: null, reply: '421 4.7.0 Too many messages on this connection', isCapped: true }
  const second = beganWithinASecond(session.host)
  if (second.length >= mailsPerSecondMax) return { stage: null, reply: '421 4.7.28 Rate limit exceeded', isCapped: true }
  second.push(performance.now())
  session.mail++
  const { address, parameters } = pathOf(line)
  const done = () => {
    session.envelope = { from: address, to: [], mailParameters: parameters, rcptParameters: [] }
  }
  return { stage: 'MAIL', reply: '250 2.1.0 Ok', done }
}

const begun = new WeakMap<MxHost, number[]>()
const SECOND_MS = 1000

/** When the mails of the last second began, over all connections of a host. */
function beganWithinASecond(host: MxHost): number[] {
  const times = begun.get(host) ?? []
  begun.set(host, times)
  while (times.length > 0 && (times[0] as number) < performance.now() - SECOND_MS) times.shift()
  return times
}

function addRecipient(session: Session, line: string): Step {
  if (!session.envelope) return { stage: null, reply: '503 5.5.1 Need MAIL first' }
  const { address, parameters } = pathOf(line)
  const done = () => {
    session.host.counts.recipients.accepted++
    session.envelope?.to.push(address)
    session.envelope?.rcptParameters.push(parameters)
  }
  return { stage: 'RCPT', reply: '250 2.1.5 Ok', done }
}

/** The address and the parameters of `MAIL FROM:<a@b> SIZE=1`. */
function pathOf(line: string): { address: string; parameters: string } {
  const from = line.indexOf('<')
  const end = line.indexOf('>', from)
  return { address: line.slice(from + 1, end), parameters: line.slice(end + 1).trim() }
}

/** Does what the script says, or else what the step says. `envelope` is given where the session has ended it. */
function react(session: Session, line: string, step: Step, envelope = session.envelope): void {
  if (step.isCapped) {
    cap(session, step.reply)
    return
  }
  const { behaviour } = session.host
  const { from = '', to = [] } = envelope ?? {}
  const at: At = { line, connection: session.connection, mail: session.mail, from, to, isEncrypted: session.tls !== null }
  const scripted = step.stage ? chosen(behaviour.script?.[step.stage], at) : undefined
  const reaction: Reaction = typeof scripted === 'string' ? { reply: scripted } : (scripted ?? {})
  const { reply = step.reply, delayMs = 0, until, then } = reaction
  const isAccepted = /^[23]/.test(reply) && then === undefined
  const lateMs = delayMs + (behaviour.latencyMs ?? 0) + (step.stage === 'BODY' ? (behaviour.acceptMs ?? 0) : 0)
  const finish = () => {
    session.isBusy = false
    // What the session knows changes before the reply, so that a client that has the reply can count on it.
    if (isAccepted && !followsReply(step)) step.done?.()
    else if (step.stage === 'RCPT') session.host.counts.recipients.refused++
    if (then !== 'silence' && !(then !== undefined && reaction.reply === undefined)) session.socket.write(`${reply}\r\n`)
    if (then === 'close') session.socket.destroySoon()
    if (then === 'reset') session.tcp.resetAndDestroy()
    if (then === 'half-close') session.socket.end()
    if (then !== undefined) session.isDeaf = true
    else if (isAccepted && followsReply(step)) step.done?.()
  }
  if (lateMs === 0 && !until) {
    finish()
    return
  }
  session.isBusy = true
  session.host.counts.late++
  const finishLate = () => {
    session.host.counts.late--
    finish()
    read(session)
  }
  if (until) void until.then(finishLate)
  else setTimeout(finishLate, lateMs)
}

/** TLS and the end of the connection come after the reply. */
const followsReply = ({ stage }: Step) => stage === 'STARTTLS' || stage === 'QUIT'

const chosen = (answer: Answer | undefined, at: At) => (typeof answer === 'function' ? answer(at) : answer)

/** Refuses because of a cap, and closes. */
function cap(session: Session, reply: string): void {
  session.host.counts.capped++
  session.isDeaf = true
  session.socket.end(`${reply}\r\n`)
}

function accept(session: Session, envelope: Envelope, content: Buffer): void {
  const { host, connection, mail, tls, helo } = session
  const { counts } = host
  counts.accepted++
  counts.mailsPerConnection[connection - 1] = (counts.mailsPerConnection[connection - 1] ?? 0) + 1
  if (host.behaviour.keepsMails === false) return
  const parameters = { mail: envelope.mailParameters, rcpt: envelope.rcptParameters }
  host.mails.push({ host: host.name, ip: host.ip, from: envelope.from, to: envelope.to, parameters, content, tls, helo, connection, mail })
}

/** Begins TLS after the reply to STARTTLS, or what the host does instead. */
async function secure(session: Session): Promise<void> {
  const { socket, secureContext, host } = session
  const variant = host.behaviour.tls ?? 'valid'
  socket.removeAllListeners('data')
  session.rest = Buffer.alloc(0)
  if (variant === 'garbage' || variant === 'closes') {
    socket.once('data', () => (variant === 'garbage' ? socket.write(GARBAGE) : socket.destroy()))
    return
  }
  if (!secureContext) return
  session.isBusy = true
  socket.pause()
  const tls = new TLSSocket(socket, { isServer: true, secureContext: await secureContext() })
  session.socket = tls
  tls.on('error', () => socket.destroy())
  tls.once('secure', () => {
    session.tls = { protocol: tls.getProtocol() ?? '', servername: (tls as { servername?: string | false }).servername || '' }
    session.isBusy = false
    session.helo = ''
    session.envelope = null
    read(session)
  })
  listen(session, tls)
}
