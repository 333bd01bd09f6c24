/** Emails composed per second of processor time, compared with nodemailer’s MailComposer in alternating rounds of one run. */
import MailComposer from 'nodemailer/lib/mail-composer'
import { composeMail } from '../server/src/lib/mime/compose.ts'
import { heavyMail } from './sending.ts'
import { median, report } from './support.ts'

const MAILS = 500
const ROUNDS = 5

const TEXT = 'Carillon rings for you, and this is what it has to say.\n'.repeat(60)

/** The same mail in ASCII, and with letters that must be encoded. */
const cases = [
  { name: 'ASCII', html: heavyMail().html, text: TEXT },
  {
    name: 'German',
    html: heavyMail().html.replaceAll('rings for you', 'läutet für dich'),
    text: TEXT.replaceAll('rings for', 'läutet für'),
  },
  {
    name: 'Japanese',
    html: heavyMail().html.replaceAll('Carillon rings for you', 'カリヨンがあなたのために鳴る'),
    text: '鳴る。\n'.repeat(200),
  },
]

const headers = { 'List-Unsubscribe': '<https://example.com/unsubscribe/abc>', 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
const subject = 'Zehn Angebote für Zoë'
const messageId = '<m-1@example.com>'

export async function compose(): Promise<void> {
  for (const { name, html, text } of cases) {
    const mail = { subject, html, text, messageId, date: new Date(0), boundary: 'b1', headers: Object.entries(headers) }
    const from = { name: 'Shop', address: 'shop@example.com' }
    const to = [{ name: '', address: 'kim@example.org' }]
    const own = () => Buffer.concat([...composeMail({ ...mail, from, to })])
    const theirs = () =>
      new MailComposer({ from: 'Shop <shop@example.com>', to: 'kim@example.org', subject, html, text, messageId, headers })
        .compile()
        .build()
    for (let at = 0; at < MAILS; at++) own()
    await theirs()
    const ownRate = await median(ROUNDS, () => perSecond(async () => own()))
    const theirRate = await median(ROUNDS, () => perSecond(theirs))
    report(`composing ${name}`, ownRate / theirRate, `${Math.round(ownRate)} a second; MailComposer ${Math.round(theirRate)}`, '≥ 3')
  }
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let at = 0; at < MAILS; at++) await work()
  const { user, system } = process.cpuUsage(before)
  return MAILS / ((user + system) / 1e6)
}
