/**
 * The return path of an email (D-MTA-50): an address of its own for each recipient, to which mail hosts send bounces. Only lower-case letters,
 * digits, `-` and `.`, because some mail hosts change the case or strip `+`.
 */
import type { Secrets } from '../../infra/runtime/secrets.ts'
import type { MessageId, ProjectId } from '../../lib/ids.ts'

/** A recipient of an email in the queue. */
export type ReturnPath = { project_id: ProjectId; mail_id: MessageId; recipient_no: number }

type Signing = { secrets: Pick<Secrets, 'sign' | 'isSigned'> }

const CONTEXT = 'return path'
/** `b`, the project, the email, the recipient, and the signature. At most 56 octets before the `@`, of the 64 that are allowed. */
const LOCAL_PART = /^b\.([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-z]{1,4})\.([a-z2-7]{27})$/
const LOCAL_PART_LENGTH_MAX = 64
const RADIX = 36

/** The return path of a recipient, at a domain whose mail comes to this server. */
export function returnPathFor(ctx: Signing, path: ReturnPath, domain: string): string {
  const ids = [path.project_id, path.mail_id, path.recipient_no].map((id) => id.toString(RADIX)).join('-')
  return `b.${ids}.${lowerCased(ctx.secrets.sign(ids, CONTEXT))}@${domain}`
}

/** The recipient of a return path, in any case and at any domain. Null unless this server made it. */
export function readReturnPath(ctx: Signing, address: string): ReturnPath | null {
  const local = address.slice(0, address.lastIndexOf('@')).toLowerCase()
  const [, project = '', mail = '', recipient = '', mac = ''] = (local.length <= LOCAL_PART_LENGTH_MAX && LOCAL_PART.exec(local)) || []
  const signature = mac === '' ? null : mixedCase(mac)
  if (signature === null || !ctx.secrets.isSigned(`${project}-${mail}-${recipient}`, signature, CONTEXT)) return null
  return {
    project_id: parseInt(project, RADIX) as ProjectId,
    mail_id: parseInt(mail, RADIX) as MessageId,
    recipient_no: parseInt(recipient, RADIX),
  }
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** The same bits in an alphabet of lower-case letters. */
const lowerCased = (signature: string): string => recoded(signature, [BASE64URL, 6], [BASE32, 5]).text

/** The signature of a lower-case one; null if no signature has these bits. */
function mixedCase(mac: string): string | null {
  const { text, rest } = recoded(mac, [BASE32, 5], [BASE64URL, 6])
  if (rest.value !== 0) return null
  return rest.width === 0 ? text : text.slice(0, -1)
}

/** An alphabet, and the bits that a letter of it stands for. */
type Alphabet = [letters: string, width: number]

/** The same bits in another alphabet. `rest`: the bits that do not fill the last letter, which ends in zeros. */
function recoded(from: string, [fromLetters, fromWidth]: Alphabet, [letters, width]: Alphabet) {
  const mask = (1 << width) - 1
  let text = ''
  let [bits, count] = [0, 0]
  for (const letter of from) {
    bits = (bits << fromWidth) | fromLetters.indexOf(letter)
    count += fromWidth
    for (; count >= width; count -= width) text += letters.charAt((bits >> (count - width)) & mask)
    bits &= (1 << count) - 1
  }
  if (count > 0) text += letters.charAt((bits << (width - count)) & mask)
  return { text, rest: { value: bits, width: count } }
}
