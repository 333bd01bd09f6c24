/** An SMTP relay on loopback, with the failures that the test sets. */
import type { AddressInfo, Server, Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { inject } from 'vitest'
import { issueCertificate, loadOrCreateAuthority } from '../src/infra/outgoing/dev-authority.ts'

/** The reply to an email: accepted, refused at a command, or the connection is `cut` there. `CONNECT` is the greeting, `BODY` the end of the data. */
export type RelayReply =
  | 'accepted'
  | { at: 'CONNECT' | 'AUTH' | 'MAIL' | 'RCPT' | 'BODY'; code: number; text: string }
  | { at: 'CONNECT' | 'MAIL' | 'RCPT' | 'BODY'; cut: true }

/** A received email. Names of headers are in lower case, and values are unfolded. */
export type ReceivedMail = {
  from: string
  to: string[]
  headers: Record<string, string>
  raw: string
  isSecure: boolean
  user: string | undefined
}

export type Relay = AsyncDisposable & {
  host: string
  port: number
  mails: ReceivedMail[]
  /** How many connections were made so far, and how many are open. */
  connections(): { made: number; open: number }
  /** Sets the replies to the next emails, one for each. Further emails are accepted. */
  answer(...replies: RelayReply[]): void
  /** Delays the greeting of new connections, or the replies to complete emails. */
  hold(at?: 'CONNECT' | 'BODY'): Hold
  /** The number of complete emails without a reply. */
  unanswered(): number
}

export type Hold = {
  /** Resolves when a reply is delayed. */
  reached(): Promise<void>
  release(): void
}

const PASSWORD = 'secret'
const CLOSE_TIMEOUT_MS = 20

/** Starts a relay. Without options, it needs no authentication and offers no encryption. The password is always `secret`. */
export async function openRelay(options: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] }): Promise<Relay> {
  const now = new Date()
  const authority = await loadOrCreateAuthority(inject('authorityDir'), now)
  const mails: ReceivedMail[] = []
  const sockets = new Map<number | undefined, Socket>()
  let replies: RelayReply[] = []
  let held: { at: string; reached: () => void; released: Promise<void> } | undefined
  let made = 0
  let unanswered = 0
  const holdBack = async (at: string) => {
    if (held?.at !== at) return
    held.reached()
    await held.released
  }
  /** Accepts a command, or fails as the test has set. */
  const proceed = (at: string, { remotePort }: SMTPServerSession, answer: (error: Error | null) => void) => {
    const [next] = replies
    if (typeof next !== 'object' || next.at !== at) return answer(null)
    replies.shift()
    if ('code' in next) answer(refusal(next.code, next.text))
    else sockets.get(remotePort)?.destroy()
  }
  const server = new SMTPServer({
    ...(await issueCertificate(authority, ['127.0.0.1', 'localhost'], now)),
    logger: false,
    authOptional: true,
    closeTimeout: CLOSE_TIMEOUT_MS,
    ...options,
    async onConnect(session, callback) {
      await holdBack('CONNECT')
      proceed('CONNECT', session, callback)
    },
    onMailFrom: (_, session, callback) => proceed('MAIL', session, callback),
    onRcptTo: (_, session, callback) => proceed('RCPT', session, callback),
    onAuth: ({ username, password }, session, callback) =>
      proceed('AUTH', session, (error) => {
        const refused = error ?? (password === PASSWORD ? null : refusal(535, '5.7.8 Wrong password'))
        callback(refused, refused ? undefined : { user: username })
      }),
    async onData(stream, session, callback) {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of stream) chunks.push(chunk as Buffer)
      } catch {
        // The client was killed while it sent the email, so nothing was received.
        return
      }
      unanswered += 1
      await holdBack('BODY')
      unanswered -= 1
      proceed('BODY', session, (error) => {
        if (!error) mails.push(mailOf(Buffer.concat(chunks).toString('utf8'), session))
        if (replies[0] === 'accepted') replies.shift()
        callback(error)
      })
    },
  })
  // Many tests break connections.
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1') as Server
  listening.on('connection', (socket: Socket) => {
    const { remotePort } = socket
    made += 1
    sockets.set(remotePort, socket)
    socket.on('close', () => sockets.delete(remotePort))
  })
  await new Promise((resolve) => listening.once('listening', resolve))
  return {
    host: '127.0.0.1',
    port: (listening.address() as AddressInfo).port,
    mails,
    connections: () => ({ made, open: sockets.size }),
    answer: (...given) => {
      replies = given
    },
    unanswered: () => unanswered,
    hold(at = 'BODY') {
      const reached = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      held = { at, reached: reached.resolve, released: released.promise }
      return { reached: () => reached.promise, release: released.resolve }
    },
    // The server closes the sockets itself: Node crashes if a socket is destroyed while its TLS is ending.
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

const refusal = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

function mailOf(raw: string, { envelope, secure, user }: SMTPServerSession): ReceivedMail {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')
  const headers = Object.fromEntries(
    head.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const { mailFrom, rcptTo } = envelope
  return { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address), headers, raw, isSecure: secure, user }
}
