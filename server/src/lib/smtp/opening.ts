/** Opening an SMTP session: the greeting, EHLO, STARTTLS (RFC 3207) and AUTH (RFC 4954). Pure. */
import { createHmac } from 'node:crypto'
import { extensionsOf, type Reply } from './replies.ts'
import { type Action, CLOSING, command, isOk, type Opening, offers, type Stage, type State } from './state.ts'

/** 521: the server takes no mail at all (RFC 7504). */
const TAKES_NO_MAIL = 521

/** What follows from a reply while the session is being opened. */
export function opening<M>(state: State<M>, what: Opening, reply: Reply): Action<M>[] {
  const { name, startTls } = state.options
  switch (what) {
    case 'greeting':
      return isOk(reply) ? [command(state, `EHLO ${name}`, { for: 'ehlo' })] : refuse('GREETING', reply)
    case 'ehlo': {
      if (isOk(reply)) {
        state.extensions = extensionsOf(reply)
        return greeted(state)
      }
      // Servers from before 1995 know HELO only.
      const isOld = reply.code >= 500 && reply.code !== TAKES_NO_MAIL && startTls !== 'required'
      return isOld ? [command(state, `HELO ${name}`, { for: 'helo' })] : refuse('EHLO', reply)
    }
    case 'helo':
      return isOk(reply) ? greeted(state) : refuse('EHLO', reply)
    case 'starttls':
      if (isOk(reply)) return [{ do: 'secure' }]
      // That says nothing about TLS, and there is no session to go on with.
      if (reply.code === CLOSING) return refuse('STARTTLS', reply)
      if (startTls === 'required') return [{ do: 'fail', why: 'TLS is not offered', reply }]
      return inPlain(state, `The server refused STARTTLS: ${reply.code} ${reply.lines.join(' ')}`)
    default:
      return loggingIn(state, what, reply)
  }
}

/** After EHLO: encryption, then the login, then mails. */
function greeted<M>(state: State<M>): Action<M>[] {
  const { startTls, credentials } = state.options
  if (!state.isSecure && offers(state, 'STARTTLS')) return [command(state, 'STARTTLS', { for: 'starttls' })]
  if (!state.isSecure && startTls === 'required') return [{ do: 'fail', why: 'TLS is not offered' }]
  if (!state.isSecure) return inPlain(state, 'STARTTLS is not in the list of extensions.')
  return credentials ? authenticate(state) : ready(state)
}

/** Continues without encryption. */
function inPlain<M>(state: State<M>, because: string): Action<M>[] {
  Object.assign(state, { isSecure: true, plainBecause: because })
  return greeted(state)
}

/** The stage of a reply that is expected while the session is being opened. */
export function stageOfOpening(expected: string | undefined): Stage {
  if (expected === 'greeting') return 'GREETING'
  if (expected === 'ehlo' || expected === 'helo') return 'EHLO'
  return expected === 'starttls' ? 'STARTTLS' : 'AUTH'
}

/** Logs in as the server offers; with PLAIN if it offers nothing that is known here. */
function authenticate<M>(state: State<M>): Action<M>[] {
  const offered = (state.extensions.get('AUTH') ?? []).map((mechanism) => mechanism.toUpperCase())
  if (offered.includes('PLAIN')) return [command(state, `AUTH PLAIN ${plainOf(state)}`, { for: 'plain' })]
  if (offered.includes('LOGIN')) return [command(state, 'AUTH LOGIN', { for: 'login user' })]
  if (offered.includes('CRAM-MD5')) return [command(state, 'AUTH CRAM-MD5', { for: 'cram' })]
  return [command(state, `AUTH PLAIN ${plainOf(state)}`, { for: 'plain' })]
}

function loggingIn<M>(state: State<M>, what: Opening, reply: Reply): Action<M>[] {
  if (reply.code === 235) return ready(state)
  if (reply.code !== 334) return refuse('AUTH', reply)
  const { username, password } = credentialsOf(state)
  switch (what) {
    case 'login user':
      return [command(state, base64(username), { for: 'login password' })]
    case 'login password':
      return [command(state, base64(password), { for: 'password' })]
    // A server that ignores the initial response asks for it.
    case 'plain':
      return [command(state, plainOf(state), { for: 'password' })]
    case 'cram': {
      const challenge = Buffer.from(reply.lines[0] ?? '', 'base64')
      const digest = createHmac('md5', password).update(challenge).digest('hex')
      return [command(state, base64(`${username} ${digest}`), { for: 'password' })]
    }
    default:
      return refuse('AUTH', reply)
  }
}

function ready<M>(state: State<M>): Action<M>[] {
  state.isReady = true
  return [{ do: 'ready' }]
}

const refuse = (stage: Stage, reply: Reply): [{ do: 'refuse'; stage: Stage; reply: Reply }] => [{ do: 'refuse', stage, reply }]

const credentialsOf = <M>({ options }: State<M>) => options.credentials ?? { username: '', password: '' }

const plainOf = <M>(state: State<M>): string => {
  const { username, password } = credentialsOf(state)
  return base64(`\0${username}\0${password}`)
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
