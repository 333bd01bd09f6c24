import { type Static, Type } from 'typebox'
import type { SmtpAnswer, SmtpRelay, SmtpReply } from '../../../infra/outgoing/smtp-relays.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { classify } from '../../mta/index.ts'
import * as mail from '../mail.ts'
import { composedOf } from '../mail-source.ts'
import { type ComposedMail, type ProviderResponse, type ProviderTools, provider } from '../provider.ts'

const CONNECTIONS_DEFAULT = 10
const CONNECTIONS_MAX = 50

const Settings = Exact({
  host: Line(253, { title: 'Host', format: 'hostname-or-ip' }),
  port: Type.Integer({ title: 'Port', minimum: 1, maximum: 65_535, description: 'Usually 587 with `starttls`, or 465 with `implicit`.' }),
  tls: OneOf(['implicit', 'starttls', 'opportunistic', 'none'], {
    title: 'Encryption',
    description: '`implicit` and `starttls` require encryption and a valid certificate; `opportunistic` uses encryption if it is offered.',
  }),
  username: Type.Optional(Line(512, { title: 'User name', format: 'no-control' })),
  password: Type.Optional(mail.Secret('Password')),
  connections: Type.Optional(
    Type.Integer({
      title: 'Connections',
      minimum: 1,
      maximum: CONNECTIONS_MAX,
      description: `The maximum number of connections per process. Default: ${CONNECTIONS_DEFAULT}.`,
    }),
  ),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

/** Any SMTP relay. */
export const smtp = provider({
  label: 'SMTP',
  channels: ['email'],
  settings: Settings,
  check: (settings) => [
    ...((settings.username === undefined) === (settings.password === undefined)
      ? []
      : [{ param: 'password', message: 'Set `username` and `password` together, or neither.' }]),
    ...mail.checkSender(settings),
  ],
  repeatable: false,
  idempotent: false,
  takesMail: 'composed',
  atOnce: CONNECTIONS_MAX,
  send: async (settings, message, outside) => (message.mail ? give(settings, message.mail, outside) : compose(settings, message, outside)),
  test: (settings, { smtp }) => smtp.verify(relayOf(settings)),
})

const compose = mail.sendEmail<Settings>(async (settings, email, message, outside) => {
  const composed = composedOf(email, message.key, outside.clock.now())
  return 'is' in composed ? composed : give(settings, composed, outside)
})

const give = async (settings: Settings, composed: ComposedMail, { smtp }: Pick<ProviderTools, 'smtp'>): Promise<ProviderResponse> =>
  outcomeOf(await smtp.send(relayOf(settings), composed), settings.host, composed.messageId)

const relayOf = ({ host, port, tls, username, password, connections = CONNECTIONS_DEFAULT }: Settings): SmtpRelay => ({
  host,
  port,
  tls,
  connections,
  ...(username !== undefined && password !== undefined && { username, password }),
})

function outcomeOf(answer: SmtpAnswer, host: string, messageId: string): ProviderResponse {
  switch (answer.is) {
    case 'accepted':
      return {
        is: 'accepted',
        delivered: false,
        reference: messageId,
        smtp: { host, messageId, peer: answer.peer, reply: replyOf(answer) },
      }
    case 'uncertain':
      return { is: 'uncertain', reason: answer.message, smtp: { host, messageId, peer: answer.peer, failedAt: 'DATA' } }
    case 'unreachable': {
      const { message: reason, stage: failedAt, noTls, peer = {} } = answer
      return { is: 'deferred', reason, smtp: { host, messageId, peer, failedAt, ...(noTls && { noTls }) } }
    }
    case 'unsendable':
      return { is: 'rejected', reason: answer.message }
    case 'refused': {
      const { stage: failedAt, peer } = answer
      return { ...refusalOf(answer), smtp: { host, messageId, peer, failedAt, reply: replyOf(answer) } }
    }
    default:
      return answer satisfies never
  }
}

const replyOf = ({ code, enhancedCode, response }: SmtpReply): SmtpReply => ({
  code,
  ...(enhancedCode !== undefined && { enhancedCode }),
  response,
})

type Refused = Extract<SmtpAnswer, { is: 'refused' }>

/** A bad sequence of commands (RFC 5321), which is a problem of the session and not of the email. */
const BAD_SEQUENCE = 503

/** The stages before the email. */
const OF_SESSION: readonly string[] = ['GREETING', 'EHLO', 'STARTTLS', 'AUTH']

/** A refused connection or login is deferred, because it says nothing about the email. */
function refusalOf(answer: Refused): Extract<ProviderResponse, { is: 'deferred' | 'rejected' }> {
  const { code, enhancedCode, response, stage } = answer
  const fields = { reason: response, code: enhancedCode ?? String(code) }
  if (code < 500 || code === BAD_SEQUENCE || OF_SESSION.includes(stage)) return { is: 'deferred', ...fields }
  return { is: 'rejected', ...fields, ...(isAddressBad(answer) && { bounced: true }) }
}

/** Bad mailbox, bad domain, bad syntax, moved, null MX, disabled (RFC 3463, RFC 7505). */
const BAD_ADDRESS = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']
const BAD_ADDRESS_LABELS = ['invalid-recipient', 'inactive-mailbox']

/** Words about a recipient. What else mail hosts say of one, such as `disabled` or `rejected`, relays say of the sender, its account and its domain. */
const BAD_ADDRESS_MESSAGE = /unknown user|user unknown|no such|not exist|not found|unavailable|invalid (?:mailbox|recipient|address)/i

/** Words about the sender, which are not a part of an address. */
const OF_SENDER = /(?<![\w.@+-])(?:sender|mail from|helo|ehlo|your (?:account|domain|server|host))(?!\.?[\w@+-])/i

/**
 * Is the recipient’s address invalid? Relays verify the sender and look up blocklists at RCPT too, with 550 and words such as `does not exist`,
 * and say with 551 or 553 that they do not relay. So of the codes only an enhanced one counts. Without one, words count only if they are about a
 * recipient here and for email that this server delivers (D-MTA-32).
 */
const isAddressBad = ({ stage, enhancedCode, response }: Refused) =>
  stage === 'RCPT' &&
  (enhancedCode === undefined ? BAD_ADDRESS_MESSAGE.test(response) && !OF_SENDER.test(response) : BAD_ADDRESS.includes(enhancedCode)) &&
  BAD_ADDRESS_LABELS.includes(classify({ code: 550, response, ...(enhancedCode !== undefined && { enhancedCode }) }).label)
