/** Content-Transfer-Encodings (RFC 2045): how the text or the bytes of a part become lines of ASCII. Pure. */

/** A part as lines of ASCII that end with CRLF, except perhaps the last. */
export type EncodedBody = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

/** The longest line that SMTP transports (RFC 5322), without its CRLF. */
export const LINE_LENGTH_MAX = 998

/** The longest line of quoted-printable and base64. */
const ENCODED_LENGTH_MAX = 76

/** If more than one byte in this many must be escaped, base64 is shorter than quoted-printable, and as unreadable. */
const ESCAPED_SHARE = 6

const FROM = Buffer.from('From ')

/** Encodes text as UTF-8 in the encoding that suits it: `7bit` if it is ASCII in short lines, `quoted-printable` if it is mostly ASCII. */
export function encodeText(text: string): EncodedBody {
  const lines = withCrlf(text)
  // Lone surrogates become U+FFFD, which takes three bytes.
  const length = Buffer.byteLength(lines, 'utf8')
  if (length === lines.length && isSafe(lines)) return { encoding: '7bit', body: lines }
  const bytes = Buffer.from(lines, 'utf8')
  const escapes = countEscapes(bytes)
  if (escapes * ESCAPED_SHARE <= bytes.length) return { encoding: 'quoted-printable', body: quotedPrintable(bytes) }
  return { encoding: 'base64', body: base64Lines(bytes) }
}

/** All line ends as CRLF. A lone CR counts as one, because servers refuse it in a message. */
const withCrlf = (text: string): string => (text.includes('\r') ? text.replace(/\r\n|\r|\n/g, '\r\n') : text.replaceAll('\n', '\r\n'))

const [TAB, LF, CR, SPACE, EQUALS, DELETE] = [9, 10, 13, 32, 61, 127]
const [PLAIN, ESCAPE, BLANK, LINE_END, CAPITAL_F] = [0, 1, 2, 3, 4]

/** What quoted-printable does with each byte. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === CR) return LINE_END
  if (byte === SPACE || byte === TAB) return BLANK
  if (byte === FROM[0]) return CAPITAL_F
  return byte < SPACE || byte >= DELETE || byte === EQUALS ? ESCAPE : PLAIN
})

/** How many bytes are not printable ASCII. */
function countEscapes(bytes: Buffer): number {
  let escapes = 0
  for (const byte of bytes) if (byte >= DELETE || (byte < SPACE && byte !== TAB && byte !== CR && byte !== LF)) escapes++
  return escapes
}

const BYTES_PER_WORD = 4

/** Where texts are read word by word. It grows to the longest one up to a limit. */
let scratch = new Uint8Array(65_536)
const SCRATCH_MAX = 4_194_304

/**
 * Whether relays leave ASCII with CRLF line ends as it is: lines that are not too long, no controls, no spaces at the end of a line, which
 * may be removed, and no `From ` at its start, which may be marked, as in mailbox files. Most words of four bytes have no control in them.
 */
function isSafe(lines: string): boolean {
  if (lines.startsWith('From ') || lines.endsWith(' ') || lines.endsWith('\t')) return false
  const bytes = bytesOf(lines)
  const words = new Uint32Array(bytes.buffer, 0, bytes.length / BYTES_PER_WORD)
  let start = 0
  for (let index = 0; index < words.length; index++) {
    if (!hasControl(words[index] as number)) continue
    for (let at = index * BYTES_PER_WORD; at < (index + 1) * BYTES_PER_WORD; at++) {
      const byte = bytes[at] as number
      if (byte === CR ? isBlank(bytes[at - 1]) : byte === DELETE || (byte < SPACE && byte !== TAB && byte !== LF)) return false
      if (byte !== LF) continue
      if (at - 1 - start > LINE_LENGTH_MAX || (bytes[at + 1] === FROM[0] && lines.startsWith('From ', at + 1))) return false
      start = at + 1
    }
  }
  return lines.length - start <= LINE_LENGTH_MAX
}

/** ASCII as bytes in whole words. What fills the last one is a letter. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const length = Math.ceil(text.length / BYTES_PER_WORD) * BYTES_PER_WORD
  if (length > scratch.length && length <= SCRATCH_MAX) scratch = new Uint8Array(length)
  const bytes = length > scratch.length ? new Uint8Array(length) : scratch.subarray(0, length)
  Buffer.from(bytes.buffer, 0, length).write(text, 'latin1')
  return bytes.fill(FROM[0] as number, text.length)
}

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB

/** Whether one of the four bytes of a word is below the space or is DELETE. All of them are ASCII. */
function hasControl(word: number): boolean {
  const others = word ^ 0x7f7f7f7f
  return ((((word - 0x20202020) & ~word) | ((others - 0x01010101) & ~others)) & 0x80808080) !== 0
}

const HEX = Buffer.from('0123456789ABCDEF')
/** Each byte becomes at most three, and each line of at least 73 gets a soft line break of three. */
const GROWTH = 3 * (1 + 3 / (ENCODED_LENGTH_MAX - 3))

/** Quoted-printable (RFC 2045 §6.7) of bytes whose line ends are CRLF. */
export function quotedPrintable(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(Math.ceil(bytes.length * GROWTH) + 3)
  const last = bytes.length - 1
  let to = 0
  let column = 0
  for (let at = 0; at <= last; at++) {
    const byte = bytes[at] as number
    const kind = KINDS[byte] as number
    if (kind === LINE_END) {
      out[to++] = CR
      out[to++] = LF
      column = 0
      at++
      continue
    }
    const isPlain =
      kind === PLAIN ||
      (kind === BLANK && at !== last && bytes[at + 1] !== CR) ||
      (kind === CAPITAL_F && !(column === 0 && isFrom(bytes, at)))
    const width = isPlain ? 1 : 3
    // The last column is for the `=` of a soft line break, unless the line ends here anyway.
    if (column + width >= ENCODED_LENGTH_MAX && (column + width > ENCODED_LENGTH_MAX || (at !== last && bytes[at + 1] !== CR))) {
      out[to++] = EQUALS
      out[to++] = CR
      out[to++] = LF
      column = 0
    }
    if (isPlain) out[to++] = byte
    else {
      out[to++] = EQUALS
      out[to++] = HEX[byte >> 4] as number
      out[to++] = HEX[byte & 15] as number
    }
    column += width
  }
  return out.toString('latin1', 0, to)
}

const isFrom = (bytes: Buffer, at: number): boolean => bytes.toString('latin1', at, at + FROM.length) === 'From '

/** Base64 in lines of 76 characters. The bytes of every piece but the last must be a multiple of 57, so that pieces can be joined by CRLF. */
export function base64Lines(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const lines: string[] = []
  for (let at = 0; at < text.length; at += ENCODED_LENGTH_MAX) lines.push(text.slice(at, at + ENCODED_LENGTH_MAX))
  return lines.join('\r\n')
}
