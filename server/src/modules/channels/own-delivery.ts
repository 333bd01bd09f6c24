/** Emails that this server delivers itself: from which domain they may come, how they are signed, and where their bounces go. */
import { signaturesOf } from '../../lib/dkim/sign.ts'
import { textHeader } from '../../lib/mime/headers.ts'
import type { SendingDomain } from '../domains/index.ts'
import { domainOf, type Email } from './mail.ts'
import { composedOf } from './mail-source.ts'
import type { ComposedMail, Outgoing, ProviderResponse, ProviderTools } from './provider.ts'
import { unverifiedSender } from './unverified-sender.ts'

/**
 * A signed email with its envelope. Its content is in pieces, so that it is not copied. `returnDomain` is the domain of its return paths; null if
 * bounces go to the sender.
 */
export type SignedMail = { from: string; to: string[]; pieces: Buffer[]; returnDomain: string | null }

type Outside = Pick<ProviderTools, 'clock' | 'senderOf' | 'reportAddressOf'>

/** Composes and signs an email, or rejects it. Bounces go to `returnDomain`; without it, to that of the sender. */
export async function signedMail(
  email: Email,
  message: Pick<Outgoing, 'id' | 'key' | 'isMarketing'>,
  outside: Outside,
  returnDomain: string | undefined,
): Promise<SignedMail | ProviderResponse> {
  const composed = composedOf(email, message.key, outside.clock.now())
  return 'is' in composed ? composed : signComposed(composed, message, outside, returnDomain)
}

/** Signs an email, or rejects it: marketing comes from verified domains only (D-MTA-43). */
export async function signComposed(
  { envelope: { from, to }, content, bodyHash }: ComposedMail,
  message: Pick<Outgoing, 'id' | 'isMarketing'>,
  outside: Outside,
  returnDomain: string | undefined,
): Promise<SignedMail | ProviderResponse> {
  const fromDomain = domainOf(from)
  const sender = await outside.senderOf(fromDomain, returnDomain)
  if (message.isMarketing && !sender?.is_verified) {
    return { is: 'rejected', reason: unverifiedSender(fromDomain, sender), code: 'unverified_domain' }
  }
  const reports = sender && ownReturnPath(sender) ? outside.reportAddressOf(message.id, sender.return_path) : null
  const before = reports === null ? Buffer.alloc(0) : feedbackLoop(reports)
  const signatures = await signaturesOf(content, sender?.dkim ?? [], outside.clock.now(), { before, bodyHash })
  return {
    from,
    to: [...to],
    pieces: [...signatures, before, content],
    returnDomain: returnDomain ?? returnDomainOf(message, sender, outside),
  }
}

/** Whether bounces go to a subdomain of the sender, so that receivers see one owner (RFC 9477 §3). */
const ownReturnPath = ({ domain, return_path }: SendingDomain): boolean => return_path.endsWith(`.${domain}`)

/** The shared domain of this server takes bounces only if it takes reports at all. */
function returnDomainOf(
  { id }: Pick<Outgoing, 'id'>,
  sender: SendingDomain | undefined,
  { reportAddressOf }: Pick<ProviderTools, 'reportAddressOf'>,
): string | null {
  if (!sender) return null
  return ownReturnPath(sender) || reportAddressOf(id, sender.return_path) !== null ? sender.return_path : null
}

/** Asks receivers for reports of complaints (RFC 9477). The address shows which email it is about. */
const feedbackLoop = (address: string): Buffer =>
  Buffer.from(
    textHeader('CFBL-Address', `${address}; report=arf`) + textHeader('CFBL-Feedback-ID', address.slice(0, address.lastIndexOf('@'))),
    'latin1',
  )
