/**
 * Listens for SMTP: emails that applications submit, and reports that mail hosts send. What is accepted, and whose it is, its `protocol` decides;
 * this file knows the commands, the limits and the encryption. An email is accepted when `receive` has stored it, and not before.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { domainToASCII } from 'node:url'
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../../lib/clock.ts'
import { isLoopback } from '../../lib/networks.ts'
import type { Log } from '../runtime/log.ts'
import { type Content, type ContentMemory, withContent } from './content.ts'
import { StrictServer } from './strict-connection.ts'

/** A refusal: the reply code, and a text that begins with the enhanced status code. */
export type SmtpRefusal = { code: number; text: string }

/** A recipient with the reports that the sender asks for (RFC 3461). */
export type SmtpRecipient = { address: string; notify?: string[]; orcpt?: string }

/** An email as it came. `content` has its dots removed again, and CR LF at the end of each line. */
export type ReceivedMail = {
  from: string
  recipients: SmtpRecipient[]
  content: Buffer
  is8Bit: boolean
  isUtf8: boolean
  ret: string | null
  envid: string | null
}

/** The client of a connection. `login` is what `logIn` returned. */
export type SmtpClient<L> = { address: string; isSecure: boolean; login: L | undefined; mails: number }

export type SmtpProtocol<L> = {
  /** Checks credentials. Without it, clients do not log in. */
  logIn?(user: string, password: string, client: SmtpClient<L>): Promise<{ login: L } | SmtpRefusal>
  /** Checks a sender. Undefined accepts it. */
  checkSender(from: string, client: SmtpClient<L>): Promise<SmtpRefusal | undefined>
  checkRecipient(to: string, client: SmtpClient<L>): Promise<SmtpRefusal | undefined>
  /** Stores an email. Returns the text of the reply after it is committed. */
  receive(mail: ReceivedMail, client: SmtpClient<L>): Promise<{ accepted: string } | SmtpRefusal>
}

export type SmtpListenerOptions<L> = {
  host: string
  port: number
  /** The name in the greeting. */
  name: string
  /** Certificate and key in PEM. Without them there is no encryption. */
  tls: { cert: string; key: string } | null
  /** Encryption from the first byte. Needs `tls`. */
  isImplicit?: boolean
  bytesMax: number
  /** What the protocol reads of an email: its beginning. Without it, all. */
  bytesKept?: number
  /** Where emails are until they are stored. Several listeners may share it. */
  memory: ContentMemory
  recipientsMax: number
  connectionsMax: number
  connectionsPerAddressMax: number
  protocol: SmtpProtocol<L>
  clock: Clock
  log: Log
}

export type SmtpListener = AsyncDisposable & { port: number }

const IDLE_MS = 60_000
const CLOSE_MS = 5000

/** Starts to listen. Rejects if the port cannot be listened on. */
export async function openSmtpListener<L>(options: SmtpListenerOptions<L>): Promise<SmtpListener> {
  const server = new StrictServer(serverOptions(options))
  server.on('error', (error) => options.log.debug({ err: error }, 'an SMTP client was lost'))
  const listening = server.listen(options.port, options.host)
  await once(listening, 'listening')
  return {
    port: (listening.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

const OTHER_COMMANDS = ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD']

function serverOptions<L>(options: SmtpListenerOptions<L>) {
  const { protocol, tls, name } = options
  const disabled = [...OTHER_COMMANDS, ...(tls && !options.isImplicit ? [] : ['STARTTLS']), ...(protocol.logIn ? [] : ['AUTH'])]
  const counted = connectionCounts()
  return {
    ...tls,
    secure: options.isImplicit === true,
    name,
    banner: '',
    heloResponse: '%s',
    logger: false,
    disableReverseLookup: true,
    hideDSN: false,
    hideENHANCEDSTATUSCODES: false,
    hideREQUIRETLS: true,
    // Clients on this machine may log in without encryption; for others AUTH does not exist before it.
    allowInsecureAuth: true,
    authMethods: ['PLAIN', 'LOGIN'],
    authRequiredMessage: '5.7.0 Log in first.',
    size: options.bytesMax,
    rejectOversized: true,
    maxRecipients: options.recipientsMax,
    maxClients: options.connectionsMax,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    disabledCommands: disabled,
    ...handlersOf(options),
    onConnect(session: SMTPServerSession, done: (error?: Error | null) => void) {
      const { remoteAddress: address } = session
      session.disabledCommands = session.secure || isLoopback(address) ? disabled : [...disabled, 'AUTH']
      const count = counted.opened(session)
      done(count > options.connectionsPerAddressMax ? failure({ code: 421, text: '4.7.0 Too many connections. Try again later.' }) : null)
    },
    onSecure(_: unknown, session: SMTPServerSession, done: () => void) {
      session.disabledCommands = disabled
      done()
    },
    onClose: counted.closed,
  }
}

/** How many connections each address has. One that was refused before it was counted is not subtracted either. */
function connectionCounts() {
  const counts = new Map<string, number>()
  const counted = new WeakSet<object>()
  return {
    opened(session: SMTPServerSession): number {
      const count = (counts.get(session.remoteAddress) ?? 0) + 1
      counts.set(session.remoteAddress, count)
      counted.add(session)
      return count
    },
    closed(session: SMTPServerSession): void {
      if (!counted.delete(session)) return
      const left = (counts.get(session.remoteAddress) ?? 1) - 1
      if (left > 0) counts.set(session.remoteAddress, left)
      else counts.delete(session.remoteAddress)
    },
  }
}

type Done<T = never> = (error?: Error | null, result?: T) => void

function handlersOf<L>({ protocol, log, memory, clock, bytesMax, bytesKept = bytesMax }: SmtpListenerOptions<L>) {
  const answer = <T>(done: Done<T>, work: () => Promise<SmtpRefusal | T | undefined>) =>
    void work().then(
      (result) => (isRefusal(result) ? done(failure(result)) : done(null, result)),
      (error: unknown) => {
        log.error({ err: error }, 'an SMTP command failed')
        done(failure({ code: 451, text: '4.3.0 The server failed. Try again later.' }))
      },
    )
  return {
    onAuth: (
      { username = '', password }: { username?: string | undefined; password?: string | null | undefined },
      session: SMTPServerSession,
      done: Done<object>,
    ) =>
      answer(done, async () => {
        const result = await protocol.logIn?.(username, password ?? '', clientOf<L>(session))
        return result && 'login' in result ? { user: result.login } : result
      }),
    onMailFrom: ({ address }: SMTPServerAddress, session: SMTPServerSession, done: Done) =>
      answer(done, async () => {
        if (protocol.logIn && !session.user) return { code: 530, text: '5.7.0 Use STARTTLS, then log in.' }
        return needsUtf8(address, session) ?? ((await protocol.checkSender(asciiDomain(address), clientOf<L>(session))) as never)
      }),
    onRcptTo: ({ address }: SMTPServerAddress, session: SMTPServerSession, done: Done) =>
      answer(
        done,
        async () => needsUtf8(address, session) ?? ((await protocol.checkRecipient(asciiDomain(address), clientOf<L>(session))) as never),
      ),
    onData: (stream: SMTPServerDataStream, session: SMTPServerSession, done: Done<string>) =>
      answer(done, () =>
        withContent(stream, { memory, clock, bytesKept }, async (content) => {
          if (content.is !== 'whole') return REFUSED[content.is]
          const result = await protocol.receive(mailOf(content.bytes, session), clientOf<L>(session))
          return 'accepted' in result ? result.accepted : result
        }),
      ),
  }
}

/** The reply to an email that did not come in. */
const REFUSED: Record<Exclude<Content['is'], 'whole'>, SmtpRefusal | undefined> = {
  // The server refuses the size itself, and a lost client needs no reply.
  refused: undefined,
  full: { code: 452, text: '4.3.1 Too much email is coming in. Try again later.' },
  late: { code: 421, text: '4.4.2 The email took too long. Connect again.' },
}

const isRefusal = (result: unknown): result is SmtpRefusal => typeof result === 'object' && result !== null && 'text' in result

const failure = ({ code, text }: SmtpRefusal) => Object.assign(new Error(text), { responseCode: code })

const clientOf = <L>({ remoteAddress: address, secure: isSecure, user, transaction }: SMTPServerSession): SmtpClient<L> => ({
  address,
  isSecure,
  login: user as L | undefined,
  mails: transaction - 1,
})

const needsUtf8 = (address: string, { envelope }: SMTPServerSession): SmtpRefusal | undefined =>
  envelope.smtpUtf8 || isAscii(localPartOf(address)) ? undefined : { code: 553, text: '5.6.7 This address needs SMTPUTF8.' }

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text)
const localPartOf = (address: string) => address.slice(0, address.lastIndexOf('@'))

/** The address with the domain as the DNS has it. smtp-server decodes it. */
function asciiDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1
  const domain = address.slice(at)
  return at === 0 || isAscii(domain) ? address : address.slice(0, at) + (domainToASCII(domain) || domain)
}

function mailOf(content: Buffer, { envelope }: SMTPServerSession): ReceivedMail {
  const { mailFrom, rcptTo, bodyType, smtpUtf8, dsn } = envelope
  return {
    from: mailFrom ? asciiDomain(mailFrom.address) : '',
    recipients: rcptTo.map(({ address, dsn }) => ({
      address: asciiDomain(address),
      ...(dsn?.notify && { notify: dsn.notify }),
      ...(dsn?.orcpt !== undefined && { orcpt: dsn.orcpt }),
    })),
    content,
    is8Bit: bodyType === '8bitmime',
    isUtf8: smtpUtf8 === true,
    ret: dsn?.ret ?? null,
    envid: dsn?.envid ?? null,
  }
}
