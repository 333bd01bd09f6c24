import { isDomainName } from './urls.ts'

const EMAIL_LENGTH_MAX = 254
const LOCAL_PART_LENGTH_MAX = 64

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const QUOTED = '"(?:[ !#-[\\]-~]|\\\\[ -~])*"'
const LOCAL_PART = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})$`)

/**
 * Is this an address that email can be delivered to (D-F-1)? It must be an ASCII addr-spec of RFC 5322 at a public domain,
 * without display name, comment, folding or domain literal.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || at > LOCAL_PART_LENGTH_MAX || text.length > EMAIL_LENGTH_MAX) return false
  return LOCAL_PART.test(text.slice(0, at)) && isDomainName(text.slice(at + 1))
}
