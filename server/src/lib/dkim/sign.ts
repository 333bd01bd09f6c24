/**
 * Signs emails with DKIM (RFC 6376; Ed25519 as in RFC 8463): relaxed in headers and body, and without the tag `l`, which would let
 * others append to a signed email. Pure, but for the threads that compute the signatures.
 */
import { hash, type KeyObject, sign } from 'node:crypto'
import { bodyHashOf, type CanonicalHeader, canonicalHeader, divideMail } from './canonical.ts'
import type { DkimKey } from './keys.ts'

/** The headers that are signed wherever they are present. Those of relays, such as Received, are not among them. */
const SIGNED = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'feedback-id',
  'auto-submitted',
  'cfbl-address',
  'cfbl-feedback-id',
  'tls-report-domain',
  'tls-report-submitter',
  'tls-required',
])
const SIGNED_FAMILIES = ['content-', 'list-']

/** Signed once more than they are present, so that adding another one breaks the signature. */
const OVERSIGNED = ['From', 'Subject', 'To']

const NAME = 'DKIM-Signature'
const FOLD_AT = 76

/** Signs an email, whose line ends are CRLF, with each key. */
export async function signMail(content: Buffer, keys: readonly DkimKey[], at: Date): Promise<Buffer> {
  return keys.length === 0 ? content : Buffer.concat([...(await signaturesOf(content, keys, at)), content])
}

/** What is known of an email: headers that will be in front of it, and the hash of its body. */
type KnownOfMail = { before?: Buffer; bodyHash?: string | undefined }

/** The signatures of an email by each key, as headers that belong in front of it. Large emails are not copied. */
export async function signaturesOf(content: Buffer, keys: readonly DkimKey[], at: Date, known: KnownOfMail = {}): Promise<Buffer[]> {
  if (keys.length === 0) return []
  const { headers, body } = divideMail(content)
  const before = known.before ? divideMail(known.before).headers : []
  // The last one of a name is signed first (RFC 6376 §5.4.2).
  const signed = [...before, ...headers].filter(isSigned).reverse()
  const names = [...signed.map(({ name }) => name), ...OVERSIGNED]
  const canonical = signed.map((header) => `${header.canonical}\r\n`).join('')
  const bodyHash = known.bodyHash ?? bodyHashOf(body)
  return Promise.all(keys.map((key) => signatureOf(key, { names, canonical, bodyHash }, at)))
}

function isSigned({ name }: CanonicalHeader): boolean {
  const lower = name.toLowerCase()
  return SIGNED.has(lower) || SIGNED_FAMILIES.some((family) => lower.startsWith(family))
}

type Signable = { names: string[]; canonical: string; bodyHash: string }

async function signatureOf(key: DkimKey, { names, canonical, bodyHash }: Signable, at: Date): Promise<Buffer> {
  const { domain, selector, algorithm } = key
  const tags = [
    ` v=1; a=${algorithm}; c=relaxed/relaxed; d=${domain};`,
    ` s=${selector}; t=${Math.floor(at.getTime() / 1000)};`,
    ` bh=${bodyHash};`,
    ...foldedNames(names),
    ' b=',
  ].join('\r\n')
  const data = Buffer.from(`${canonical}${canonicalHeader(NAME, tags)}`, 'latin1')
  const signature = (await signatureBytes(key, data)).toString('base64')
  return Buffer.from(`${NAME}:${tags}${folded(signature)}\r\n`, 'latin1')
}

/** The tag `h` in lines. */
function foldedNames(names: string[]): string[] {
  const lines = [' h=']
  for (const [at, name] of names.entries()) {
    const token = at === names.length - 1 ? `${name};` : `${name}:`
    const last = lines.length - 1
    if ((lines[last] as string).length + token.length > FOLD_AT) lines.push(`  ${token}`)
    else lines[last] += token
  }
  return lines
}

function folded(text: string): string {
  const lines: string[] = []
  for (let at = 0; at < text.length; at += FOLD_AT - 4) lines.push(text.slice(at, at + FOLD_AT - 4))
  return lines.join('\r\n  ')
}

/** Ed25519 signs the hash of the data (RFC 8463 §3). */
const signatureBytes = ({ algorithm, key }: DkimKey, data: Buffer): Promise<Buffer> =>
  algorithm === 'rsa-sha256' ? signed('sha256', data, key) : signed(null, hash('sha256', data, 'buffer'), key)

/** With a callback, the signature is computed by a thread of Node’s pool. */
const signed = (digest: string | null, data: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign(digest, data, key, (error, signature) => (error ? reject(error) : resolve(signature)))
  })
