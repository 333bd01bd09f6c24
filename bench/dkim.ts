/** Emails signed per second of processor time and of time, compared with nodemailer’s DKIM in alternating rounds of one run. */
import DKIM from 'nodemailer/lib/dkim'
import { type DkimAlgorithm, generateDkimKey, readDkimKey } from '../server/src/lib/dkim/keys.ts'
import { signMail } from '../server/src/lib/dkim/sign.ts'
import { composeMail } from '../server/src/lib/mime/compose.ts'
import { heavyMail } from './sending.ts'
import { median, report } from './support.ts'

const MAILS = 400
const AT_ONCE = 8
const ROUNDS = 5
const DOMAIN = 'shop.example'

const message = Buffer.concat([
  ...composeMail({
    from: { name: 'Shop', address: `hello@${DOMAIN}` },
    to: [{ name: '', address: 'kim@example.org' }],
    subject: 'Zehn Angebote für Zoë',
    messageId: `<m-1@${DOMAIN}>`,
    date: new Date(0),
    html: heavyMail().html,
    text: 'Carillon rings for you.\n'.repeat(60),
    headers: [['List-Unsubscribe', '<https://example.com/unsubscribe/abc>']],
    boundary: 'b1',
  }),
])

export async function dkim(): Promise<void> {
  for (const algorithm of ['rsa-sha256', 'ed25519-sha256'] as DkimAlgorithm[]) {
    const pem = await generateDkimKey(algorithm)
    const keys = [{ domain: DOMAIN, selector: 's1', algorithm, key: readDkimKey(pem) }]
    const theirs = new DKIM({ domainName: DOMAIN, keySelector: 's1', privateKey: pem })
    const own = () => signMail(message, keys, new Date(0))
    const other = async () => {
      const pieces: Buffer[] = []
      for await (const piece of theirs.sign(message)) pieces.push(piece as Buffer)
      return Buffer.concat(pieces)
    }
    await rate(own)
    await rate(other)
    const ownRates: number[][] = []
    const theirRates: number[][] = []
    for (let round = 0; round < ROUNDS; round++) {
      ownRates.push(await rate(own))
      theirRates.push(await rate(other))
    }
    const [ownCpu, ownTime, theirCpu, theirTime] = await Promise.all(
      [ownRates, theirRates].flatMap((rates) => [0, 1].map((at) => medianOf(rates.map((one) => one[at] ?? 0)))),
    )
    const details = `${Math.round(ownCpu ?? 0)} per second of CPU, ${Math.round(ownTime ?? 0)} a second; nodemailer ${Math.round(theirCpu ?? 0)} and ${Math.round(theirTime ?? 0)}; ${Math.round(message.length / 1024)} KB`
    report(`DKIM ${algorithm}`, (ownCpu ?? 0) / (theirCpu ?? 1), details, algorithm === 'rsa-sha256' ? '≥ 2' : undefined)
  }
}

const medianOf = (values: number[]): Promise<number> => median(values.length, async () => values.pop() as number)

/** Per second of processor time, and per second. */
async function rate(work: () => Promise<unknown>): Promise<number[]> {
  const before = process.cpuUsage()
  const started = performance.now()
  for (let at = 0; at < MAILS; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, work))
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(before)
  return [MAILS / ((user + system) / 1e6), MAILS / seconds]
}
