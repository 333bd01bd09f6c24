/** The TXT record by which a domain asks for reports about TLS (RFC 8460 §3). Pure. */
import { isEmail } from '../../../lib/email.ts'
import { trimMatching } from '../../../lib/text.ts'

/** Where reports go: addresses, and URLs that they are posted to. */
export type ReportTargets = { addresses: string[]; urls: string[] }

/** Further ones are left out. */
const TARGETS_MAX = 5

/** The targets in the TXT records of `_smtp._tls.<domain>`, or null if there is not exactly one record, or none that can be used. */
export function targetsOf(texts: readonly string[]): ReportTargets | null {
  const records = texts.filter((text) => /^v=TLSRPTv1(?:[ \t;]|$)/.test(text))
  if (records.length !== 1) return null
  const fields = (records[0] ?? '').split(';').map((field) => trimmed(field))
  const rua = fields.find((field) => field.startsWith('rua='))?.slice('rua='.length) ?? ''
  const uris = rua
    .split(',')
    .slice(0, TARGETS_MAX)
    .map(trimmed)
    .filter((uri) => !CONTROL.test(uri))
  const addresses = uris.flatMap((uri) => addressOf(uri) ?? [])
  const urls = uris.filter((uri) => uri.startsWith('https://') && URL.canParse(uri))
  return addresses.length + urls.length > 0 ? { addresses, urls } : null
}

/** `URL` takes some of them, and the database does not. */
const CONTROL = /\p{Cc}/u

const trimmed = (text: string) => trimMatching(text, /^[ \t]$/)

/** The address of a `mailto:` URI without its parameters. */
function addressOf(uri: string): string | null {
  if (!uri.startsWith('mailto:')) return null
  const [encoded = ''] = uri.slice('mailto:'.length).split('?')
  try {
    const address = decodeURIComponent(encoded)
    return isEmail(address) ? address : null
  } catch {
    return null
  }
}
