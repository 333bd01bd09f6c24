import { type Static, Type } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { checkDelivery } from '../delivery-check.ts'
import * as mail from '../mail.ts'
import { messageIdOf } from '../mail-source.ts'
import { signedMail } from '../own-delivery.ts'
import { provider } from '../provider.ts'

const Settings = Exact({
  default_from: mail.DefaultFrom,
  return_domain: Type.Optional(
    Line(200, {
      title: 'Domain of bounces',
      format: 'hostname-or-ip',
      description:
        'A domain whose email comes to this server, such as `bounce.example.com`. Default: that of the domain of the sender, if it has one.',
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
  send: mail.sendEmail<Settings>(async ({ return_domain }, email, message, outside) => {
    const signed = await signedMail(email, message, outside)
    if ('is' in signed) return signed
    const messageId = messageIdOf(email, message.key)
    const { from, to, content, returnDomain } = signed
    return {
      is: 'accepted',
      delivered: false,
      reference: messageId,
      mail: {
        from,
        to,
        content,
        messageId,
        returnDomain: return_domain ?? returnDomain,
        needsSmtpUtf8: [from, ...to].some((address) => !IS_ASCII.test(address)),
      },
    }
  }),
  test: checkDelivery,
})

const IS_ASCII = /^[\x20-\x7E]*$/
