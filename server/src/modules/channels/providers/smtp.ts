import { type Static, Type } from 'typebox'
import type { SmtpAnswer, SmtpRelay } from '../../../infra/outgoing/smtp-relays.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import * as mail from '../mail.ts'
import { type ProviderResponse, provider } from '../provider.ts'

const CONNECTIONS_DEFAULT = 10
const CONNECTIONS_MAX = 50

const Settings = Exact({
  host: Line(253, { title: 'Host', format: 'hostname-or-ip' }),
  port: Type.Integer({ title: 'Port', minimum: 1, maximum: 65_535, description: 'Mostly 587 with `starttls`, or 465 with `implicit`.' }),
  tls: OneOf(['implicit', 'starttls', 'opportunistic', 'none'], {
    title: 'Encryption',
    description: '`implicit` and `starttls` insist on it, and on a valid certificate; `opportunistic` takes what is offered.',
  }),
  username: Type.Optional(Line(512, { title: 'User name', format: 'no-control' })),
  password: Type.Optional(mail.Secret('Password')),
  connections: Type.Optional(
    Type.Integer({
      title: 'Connections',
      minimum: 1,
      maximum: CONNECTIONS_MAX,
      description: `How many a process keeps open at most; ${CONNECTIONS_DEFAULT} unless said otherwise.`,
    }),
  ),
  default_from: mail.DefaultFrom,
})
type Settings = Static<typeof Settings>

/** Any mail relay. */
export const smtp = provider({
  label: 'SMTP',
  channels: ['email'],
  settings: Settings,
  check: (settings) => [
    ...((settings.username === undefined) === (settings.password === undefined)
      ? []
      : [{ param: 'password', message: 'Give `username` and `password` together, or neither.' }]),
    ...mail.checkSender(settings),
  ],
  repeatable: false,
  idempotent: false,
  atOnce: CONNECTIONS_MAX,
  async send(settings, message, { smtp }) {
    const letter = mail.letterOf(message, settings)
    if (mail.isOutcome(letter)) return letter
    const { from, to, cc, bcc, replyTo, headers, ...rest } = letter
    // The same at every attempt, so that whoever gets it twice can tell.
    const messageId = `<${message.key}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`
    const answer = await smtp.send(relayOf(settings), {
      ...rest,
      from: mail.inPlain(from),
      to: mail.inPlain(to),
      cc: written(cc),
      bcc: written(bcc),
      replyTo: written(replyTo),
      messageId,
      headers: Object.fromEntries(headers),
    })
    return outcomeOf(answer, messageId)
  },
  test: (settings, { smtp }) => smtp.verify(relayOf(settings)),
})

const relayOf = ({ host, port, tls, username, password, connections = CONNECTIONS_DEFAULT }: Settings): SmtpRelay => ({
  host,
  port,
  tls,
  connections,
  ...(username !== undefined && password !== undefined && { username, password }),
})

const written = (mailboxes: mail.Mailbox[]) => mailboxes.map(mail.inPlain).join(', ')

function outcomeOf(answer: SmtpAnswer, reference: string): ProviderResponse {
  switch (answer.is) {
    case 'accepted':
      return { is: 'accepted', delivered: false, reference }
    case 'uncertain':
      return { is: 'uncertain', reason: answer.message }
    case 'unreachable':
      return { is: 'deferred', reason: answer.message }
    case 'unsendable':
      return { is: 'rejected', reason: answer.message }
    case 'refused':
      return refusalOf(answer)
    default:
      return answer satisfies never
  }
}

type Refused = Extract<SmtpAnswer, { is: 'refused' }>

/** The command came out of order (RFC 5321): trouble of the session, and none of the mail. */
const BAD_SEQUENCE = 503

/** A relay that turns us away at the door, or does not take our password, has said nothing about the mail. */
function refusalOf(answer: Refused): ProviderResponse {
  const { code, enhancedCode, response, stage } = answer
  const said = { reason: response, code: enhancedCode ?? String(code) }
  if (code < 500 || code === BAD_SEQUENCE || stage === 'CONNECT' || stage === 'AUTH') return { is: 'deferred', ...said }
  return { is: 'rejected', ...said, ...(isAddressBad(answer) && { bounced: true }) }
}

/** Bad mailbox, bad domain, bad syntax, moved, no mail taken, disabled (RFC 3463, RFC 7505). */
const BAD_ADDRESS = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1']
const BAD_ADDRESS_IN_WORDS = /unknown user|user unknown|no such|not exist|not found|unavailable|invalid (mailbox|recipient|address)/i

/** Is the recipient at fault? Relays without enhanced codes say it in words; 550 alone may also mean that they do not relay. */
const isAddressBad = ({ stage, enhancedCode, response }: Refused) =>
  stage === 'RCPT' && (enhancedCode === undefined ? BAD_ADDRESS_IN_WORDS.test(response) : BAD_ADDRESS.includes(enhancedCode))
