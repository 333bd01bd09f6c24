/** Decides whether a report on a message that came by email is about its recipient. Pure. */
import { type MailReport, type ReportedDelivery, worstOf } from '../../mta/index.ts'

/** A report on deliveries, or a complaint. */
export type ReadReport = Extract<MailReport, { is: 'delivery' | 'feedback' }>

/** Whom a message went to, and whether it was found by its Message-ID alone, which all who got the email know. */
export type Addressed = {
  isRecipient(address: string): boolean
  isCopy(address: string): boolean
  hasCopies: boolean
  isByMessageId: boolean
}

/** `recipient` has what is said of the recipient; `other` has the worst, with the address that it names. */
export type Concerned = { is: 'recipient'; report: ReadReport } | { is: 'other'; report: ReadReport; address: string | null }

/**
 * Whether a report is about the recipient of a message. The recipient's mailbox may forward, so that an address which is no copy means the
 * recipient; a report that has nothing but a Message-ID must name the recipient, or nobody if there are no copies. Hosts hide addresses in
 * complaints, so that those are about the recipient unless they name a copy.
 */
export function concernedBy(report: ReadReport, message: Addressed): Concerned {
  if (report.is === 'feedback') {
    const { recipients } = report.feedback
    const copy = recipients.some(message.isRecipient) ? undefined : recipients.find(message.isCopy)
    return copy === undefined ? { is: 'recipient', report } : { is: 'other', report, address: copy }
  }
  const named = report.deliveries.filter((one) => namesOf(one).some(message.isRecipient))
  const meant = named.length > 0 ? named : report.deliveries.filter((one) => mayMeanRecipient(namesOf(one), message))
  if (meant.length > 0) return { is: 'recipient', report: { ...report, deliveries: meant } }
  const deliveries = [worstOf(report.deliveries)].filter((one) => one !== undefined)
  const names = deliveries.flatMap(namesOf)
  return { is: 'other', report: { ...report, deliveries }, address: names.find(message.isCopy) ?? names[0] ?? null }
}

/** The address that the email ended at, and the one that the host was given. */
const namesOf = ({ final, original }: ReportedDelivery): string[] => [final, original].filter((name) => name !== null)

const mayMeanRecipient = (names: string[], { isCopy, hasCopies, isByMessageId }: Addressed): boolean =>
  isByMessageId ? names.length === 0 && !hasCopies : !names.some(isCopy)
