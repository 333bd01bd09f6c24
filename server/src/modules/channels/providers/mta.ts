import { type Static, Type } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { checkDelivery } from '../delivery-check.ts'
import * as mail from '../mail.ts'
import { messageIdOf } from '../mail-source.ts'
import { type SignedMail, signComposed, signedMail } from '../own-delivery.ts'
import { type ProviderResponse, provider } from '../provider.ts'

const Settings = Exact({
  default_from: mail.DefaultFrom,
  return_domain: Type.Optional(
    Line(200, {
      title: 'Bounce domain',
      format: 'hostname-or-ip',
      description:
        'A domain whose email is delivered to this server, such as `bounce.example.com`. Default: the return path of the sender’s domain, if it has one.',
    }),
  ),
})
type Settings = Static<typeof Settings>

const COMPOSED_AT_ONCE = 50

/** The server’s own mail queue, which delivers email to the mail hosts (MX) of its recipients. */
export const mta = provider({
  label: 'Carillon',
  channels: ['email'],
  settings: Settings,
  check: mail.checkSender,
  // The transaction that records the result puts the email into the queue.
  repeatable: true,
  idempotent: false,
  atOnce: COMPOSED_AT_ONCE,
  takesMail: 'hashed',
  send: async (settings, message, outside) =>
    message.mail
      ? queued(message.mail.messageId, await signComposed(message.mail, message, outside, settings.return_domain))
      : compose(settings, message, outside),
  test: checkDelivery,
})

const compose = mail.sendEmail<Settings>(async (settings, email, message, outside) =>
  queued(messageIdOf(email, message.key), await signedMail(email, message, outside, settings.return_domain)),
)

function queued(messageId: string, signed: SignedMail | ProviderResponse): ProviderResponse {
  if ('is' in signed) return signed
  const { from, to, pieces, returnDomain } = signed
  return {
    is: 'accepted',
    delivered: false,
    reference: messageId,
    mail: {
      from,
      to,
      pieces,
      size: pieces.reduce((sum, { length }) => sum + length, 0),
      messageId,
      returnDomain,
      needsSmtpUtf8: [from, ...to].some((address) => !IS_ASCII.test(address)),
    },
  }
}

const IS_ASCII = /^[\x20-\x7E]*$/
