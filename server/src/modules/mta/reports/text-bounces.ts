/** Bounces without a machine-readable part, by the words of the servers that write them. Pure. */
import { statusIn } from './delivery-status.ts'
import type { ReportedDelivery } from './schema.ts'

const TEXT_LENGTH_MAX = 20_000
const DIAGNOSTIC_LENGTH_MAX = 1000

type Known = { action: ReportedDelivery['action']; phrase: string }

/** How the texts of mail servers begin, in lower case: qmail, Exim, Postfix, Exchange, Gmail, sendmail, Lotus Domino. Delays come first. */
const KNOWN: readonly Known[] = [
  { action: 'delayed', phrase: 'this is a warning message only' },
  { action: 'delayed', phrase: 'has not yet been delivered' },
  { action: 'delayed', phrase: 'delivery to the following recipient has been delayed' },
  { action: 'delayed', phrase: 'delivery to these recipients has been delayed' },
  { action: 'delayed', phrase: 'will keep trying' },
  { action: 'failed', phrase: 'this is the qmail-send program' },
  { action: 'failed', phrase: 'a message that you sent could not be delivered' },
  { action: 'failed', phrase: 'your message could not be delivered' },
  { action: 'failed', phrase: 'could not be delivered to one or more recipients' },
  { action: 'failed', phrase: 'did not reach some or all of the intended recipients' },
  { action: 'failed', phrase: 'delivery has failed to these recipients' },
  { action: 'failed', phrase: "your message couldn't be delivered" },
  { action: 'failed', phrase: "your message wasn't delivered" },
  { action: 'failed', phrase: 'delivery to the following recipient failed permanently' },
  { action: 'failed', phrase: 'the following addresses had permanent fatal errors' },
  { action: 'failed', phrase: 'the following recipients could not be reached' },
  { action: 'failed', phrase: 'unable to deliver message to the following recipients' },
  { action: 'failed', phrase: 'undeliverable mail' },
]

/** What follows is the returned email, whose words say nothing. */
const RETURNED = [
  '--- below this line is a copy of the message',
  '------ this is a copy of the message',
  '----- original message -----',
  '----- original message follows -----',
  'original message headers:',
]

/** The bounce that a text reports, or undefined. `isFromServer` is whether the sender is a mail server by its name. */
export function bounceIn(text: string, isFromServer: boolean): ReportedDelivery | undefined {
  const own = withoutReturned(text.slice(0, TEXT_LENGTH_MAX))
  const lower = own.toLowerCase().replaceAll('’', "'")
  const known = KNOWN.find(({ phrase }) => lower.includes(phrase))
  const line = lineWithCode(own)
  if (!known && !(isFromServer && line !== undefined)) return undefined
  const diagnostic = (line ?? reasonAfter(own, known) ?? '').slice(0, DIAGNOSTIC_LENGTH_MAX)
  const status = statusIn(diagnostic)
  const action = known?.action ?? (/^4|\b4\d\d\b/.test(status ?? diagnostic) ? 'delayed' : 'failed')
  return { action, original: null, final: null, status, diagnostic }
}

function withoutReturned(text: string): string {
  const lower = text.toLowerCase()
  const ends = RETURNED.map((phrase) => lower.indexOf(phrase)).filter((at) => at > 0)
  return text.slice(0, Math.min(text.length, ...ends))
}

/** The first line with a reply or a status code. */
const lineWithCode = (text: string): string | undefined =>
  text
    .split('\n')
    .map((line) => line.trim())
    .find((line) => /(?:^|[\s:#<(])[45](?:\d\d[ -]|\.\d{1,3}\.\d{1,3})/.test(line))

/** The lines after an address, which say why in words only. */
function reasonAfter(text: string, known: Known | undefined): string | undefined {
  if (!known) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  const at = lines.findIndex((line) => /^<?[^\s<>@]{1,64}@[^\s<>@]{1,255}>?:?$/.test(line))
  return at < 0 ? undefined : lines.slice(at + 1).find((line) => line !== '')
}
