/** Header fields (RFC 5322): folded lines of ASCII, with encoded words (RFC 2047) and extended parameters (RFC 2231). Pure. */
import { isEmail } from '../email.ts'
import { LINE_LENGTH_MAX } from './transfer-encoding.ts'

/** A value that no header can carry. The message names the header. */
export class HeaderError extends Error {}

/** An address with a display name, which can be empty. */
export type Address = { name: string; address: string }

const FOLD_AT = 78
/** Lines with encoded words (RFC 2047 §2). */
const WORD_LINE_MAX = 76
const WORD_MAX = 75

/** What a mail program would decode. */
const ENCODED_WORD = /=\?[^?\s]+\?[bq]\?[^?\s]*\?=/i
const NAME = /^[\x21-\x39\x3B-\x7E]{1,76}$/
const PRINTABLE = /^[\x20-\x7E]*$/

/** A header with free text, such as a subject: encoded if it is not ASCII, looks as if it were encoded, or does not fit on lines. */
export function textHeader(name: string, value: string): string {
  requireName(name)
  const text = oneLine(value)
  const isPlain = PRINTABLE.test(text) && !ENCODED_WORD.test(text) && text === text.trim() && !/ {2}/.test(text)
  // Only encoded words can be cut where there is no space.
  const fits = text.split(' ').every((word) => `${name}: ${word}`.length <= LINE_LENGTH_MAX)
  if (!isPlain || !fits) return `${name}: ${encodedWords(text, WORD_LINE_MAX - name.length - 2, 'text').join('\r\n ')}\r\n`
  return foldAt(name, text)
}

/** Text for a header that is composed elsewhere, on one line: encoded if it is not ASCII. */
export const encodedText = (value: string): string =>
  PRINTABLE.test(value) ? value : encodedWords(oneLine(value), WORD_MAX, 'text').join(' ')

/** A header whose value has a syntax of its own and is ASCII, such as a list of URLs. It is folded at spaces only. */
export function plainHeader(name: string, value: string): string {
  requireName(name)
  const text = oneLine(value)
  if (!PRINTABLE.test(text)) throw new HeaderError(`The value of the header \`${name}\` must be ASCII.`)
  return foldAt(name, text)
}

/** A header with addresses. */
export function addressHeader(name: string, addresses: readonly Address[]): string {
  requireName(name)
  let out = `${name}:`
  let column = out.length
  const put = (token: string) => {
    if (column + 1 + token.length > FOLD_AT && column > 1) {
      out += '\r\n'
      column = 0
    }
    out += ` ${token}`
    column += 1 + token.length
  }
  for (const [at, { name: display, address }] of addresses.entries()) {
    if (!isEmail(address)) throw new HeaderError(`The header \`${name}\` has an invalid address.`)
    const end = at === addresses.length - 1 ? '' : ','
    const phrase = phraseOf(oneLine(display))
    for (const token of phrase) put(token)
    put(phrase.length === 0 ? `${address}${end}` : `<${address}>${end}`)
  }
  return `${out}\r\n`
}

const QUOTED_MAX = 60
/** Words that need no quotes. A name of another form is one quoted string, whose spaces count. */
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,60}(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,60})*$/

/** A display name as tokens between which lines can be folded. */
function phraseOf(name: string): string[] {
  const text = name.trim()
  if (text === '') return []
  if (ATOMS.test(text) && !ENCODED_WORD.test(text)) return text.split(' ')
  if (PRINTABLE.test(text) && text.length <= QUOTED_MAX && !ENCODED_WORD.test(text)) return [`"${text.replace(/["\\]/g, '\\$&')}"`]
  return encodedWords(text, WORD_MAX, 'phrase')
}

/** The parameters of a header, each on a line of its own: `; filename="x.pdf"`. */
export const parameters = (values: Record<string, string>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => parameterOf(name, oneLine(value)))
    .map((parameter) => `;\r\n ${parameter}`)
    .join('')

const PARAMETER_MAX = 60

/** One parameter, in several parts if it is long (RFC 2231 §3 and §4). */
function parameterOf(name: string, value: string): string[] {
  if (PRINTABLE.test(value) && value.length <= PARAMETER_MAX) return [`${name}="${value.replace(/["\\]/g, '\\$&')}"`]
  const parts = ["UTF-8''"]
  for (const character of value.toWellFormed()) {
    const encoded = /^[A-Za-z0-9!#$&+.^_`{|}~-]$/.test(character) ? character : percent(character)
    const last = parts[parts.length - 1] as string
    if (last.length + encoded.length > PARAMETER_MAX) parts.push(encoded)
    else parts[parts.length - 1] = last + encoded
  }
  if (parts.length === 1) return [`${name}*=${parts[0]}`]
  return parts.map((part, at) => `${name}*${at}*=${part}`)
}

const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0')
const percent = (character: string): string => [...Buffer.from(character)].map((byte) => `%${hex(byte)}`).join('')

function requireName(name: string): void {
  if (!NAME.test(name)) throw new HeaderError(`The header name ${JSON.stringify(name.slice(0, 80))} is invalid.`)
}

/** Line breaks and other control characters would end the header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a header.
const oneLine = (text: string): string => text.replace(/[\x00-\x1F\x7F\u0085\u2028\u2029]+/g, ' ')

/** Folds at spaces. A word that is longer than a line may be is refused. */
function foldAt(name: string, text: string): string {
  let out = `${name}:`
  let column = out.length
  for (const word of text.split(' ')) {
    if (column + 1 + word.length > FOLD_AT && column > name.length + 1) {
      out += '\r\n'
      column = 0
    }
    if (column + 1 + word.length > LINE_LENGTH_MAX) throw new HeaderError(`The header \`${name}\` has a word that is too long for a line.`)
    out += ` ${word}`
    column += 1 + word.length
  }
  return `${out}\r\n`
}

const B_OVERHEAD = '=?UTF-8?B??='.length
/** How much longer than B an encoded word in Q may be. */
const Q_PREFERRED = 1.5
/** The characters that Q does not escape. In a display name there are fewer (RFC 2047 §5 (3)). */
const Q_PLAIN = { phrase: /^[A-Za-z0-9!*+/-]$/, text: /^[\x21-\x3C\x3E\x40-\x5E\x60-\x7E]$/ }

/**
 * Encoded words (RFC 2047) of at most 75 characters, none of which splits a character: in Q, which people can read, unless B is much shorter. The first is
 * at most `first` characters long.
 */
function encodedWords(text: string, first: number, where: keyof typeof Q_PLAIN): string[] {
  const characters = [...text.toWellFormed()].map((character) => {
    const bytes = Buffer.byteLength(character)
    const q = character === ' ' ? '_' : Q_PLAIN[where].test(character) ? character : null
    return { character, bytes, qLength: q === null ? 3 * bytes : 1, q }
  })
  const qLength = characters.reduce((sum, one) => sum + one.qLength, 0)
  const bLength = Math.ceil(characters.reduce((sum, one) => sum + one.bytes, 0) / 3) * 4
  const isQ = qLength <= Q_PREFERRED * bLength
  const words: string[] = []
  let room = Math.min(first, WORD_MAX) - B_OVERHEAD
  let run: typeof characters = []
  let used = 0
  const close = () => {
    const body = isQ
      ? run.map(({ q, character }) => q ?? percent(character).replaceAll('%', '=')).join('')
      : Buffer.from(run.map(({ character }) => character).join('')).toString('base64')
    words.push(`=?UTF-8?${isQ ? 'Q' : 'B'}?${body}?=`)
    room = WORD_MAX - B_OVERHEAD
    run = []
    used = 0
  }
  for (const one of characters) {
    const size = isQ ? used + one.qLength : Math.ceil((used + one.bytes) / 3) * 4
    if (size > room && run.length > 0) close()
    run.push(one)
    used += isQ ? one.qLength : one.bytes
  }
  if (run.length > 0 || words.length === 0) close()
  return words
}
