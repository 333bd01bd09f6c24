/** The relaxed canonical form of headers and bodies (RFC 6376 §3.4), which survives what relays do to white space. Pure. */
import { createHash, type Hash, hash } from 'node:crypto'

/** A header of an email: its name as it is written, and its canonical form, which has no line end. */
export type CanonicalHeader = { name: string; canonical: string }

const HEADERS_END = Buffer.from('\r\n\r\n')
const LINE_END_LENGTH = 2

/** Divides an email whose line ends are CRLF. Without an empty line there is no body. */
export function divideMail(content: Buffer): { headers: CanonicalHeader[]; body: Buffer } {
  // An email can begin with the empty line, which then follows no header.
  const end = content.subarray(0, LINE_END_LENGTH).equals(HEADERS_END.subarray(0, LINE_END_LENGTH))
    ? -LINE_END_LENGTH
    : content.indexOf(HEADERS_END)
  const head = end === -1 ? content : content.subarray(0, Math.max(0, end))
  const body = end === -1 ? content.subarray(content.length) : content.subarray(end + HEADERS_END.length)
  return { headers: canonicalHeaders(head.toString('latin1')), body }
}

/** The headers of a text of one character for each byte. */
function canonicalHeaders(text: string): CanonicalHeader[] {
  const fields: string[] = []
  for (const line of text.split('\r\n')) {
    if ((line.startsWith(' ') || line.startsWith('\t')) && fields.length > 0) fields[fields.length - 1] += line
    else if (line !== '') fields.push(line)
  }
  return fields.flatMap((field) => {
    const colon = field.indexOf(':')
    if (colon === -1) return []
    const name = withoutBlanks(field.slice(0, colon))
    return [{ name, canonical: canonicalHeader(name, field.slice(colon + 1)) }]
  })
}

/** The canonical form of a header, which may be folded. */
export const canonicalHeader = (name: string, value: string): string =>
  `${name.toLowerCase()}:${withoutBlanks(value.replaceAll('\r\n', '').replace(/[ \t]+/g, ' '))}`

/** Without the white space at both ends. `trim` would also take the byte A0, which ends many letters of UTF-8. */
function withoutBlanks(text: string): string {
  let begin = 0
  let end = text.length
  while (begin < end && isBlank(text.charCodeAt(begin))) begin++
  while (end > begin && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(begin, end)
}

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
const isBlank = (code: number): boolean => code === SPACE || code === TAB

/** The canonical form of a usual body is hashed at once, and that of a larger one in pieces, so that it is not in memory as a whole. */
const PIECE_BYTES = 65_536
const piece = new Uint8Array(PIECE_BYTES)
/** Runs that are shorter are copied byte by byte, which costs less than a call. */
const SHORT_RUN = 48

/** The hash of a body, as the tag `bh` has it. A lone LF ends a line too, as receivers read it; a lone CR does not. */
export function bodyHashOf(body: Uint8Array): string {
  const canonical = createPieces()
  const end = endOfText(body)
  let copied = 0
  let at = 0
  while (at < end) {
    const byte = body[at] as number
    if (byte > SPACE) at++
    // A single space between words.
    else if (byte === SPACE && (body[at + 1] as number) > SPACE) at += 2
    else if (byte === LF && body[at - 1] !== CR) {
      canonical.put(body, copied, at)
      canonical.putByte(CR)
      copied = at++
    } else if (isBlank(byte)) {
      canonical.put(body, copied, at)
      while (isBlank(body[at] as number)) at++
      if (!isLineEnd(body, at)) canonical.putByte(SPACE)
      copied = at
    } else at++
  }
  canonical.put(body, copied, end)
  if (end > 0) for (const byte of [CR, LF]) canonical.putByte(byte)
  return canonical.digest()
}

/** Where the last line with a text ends. */
function endOfText(body: Uint8Array): number {
  let end = body.length
  for (; end > 0; end--) {
    const last = body[end - 1] as number
    if (!isBlank(last) && last !== LF && !(last === CR && body[end] === LF)) break
  }
  return end
}

const isLineEnd = (body: Uint8Array, at: number): boolean => body[at] === LF || (body[at] === CR && body[at + 1] === LF)

/** Collects bytes to hash them. */
function createPieces() {
  let hashed: Hash | undefined
  let filled = 0
  const flush = () => {
    hashed = (hashed ?? createHash('sha256')).update(piece.subarray(0, filled))
    filled = 0
  }
  return {
    put(bytes: Uint8Array, from: number, to: number) {
      for (let at = from; at < to; ) {
        const count = Math.min(to - at, PIECE_BYTES - filled)
        if (count < SHORT_RUN) for (let index = 0; index < count; index++) piece[filled + index] = bytes[at + index] as number
        else piece.set(bytes.subarray(at, at + count), filled)
        filled += count
        at += count
        if (filled === PIECE_BYTES) flush()
      }
    },
    putByte(byte: number) {
      piece[filled++] = byte
      if (filled === PIECE_BYTES) flush()
    },
    digest() {
      const rest = piece.subarray(0, filled)
      return hashed ? hashed.update(rest).digest('base64') : hash('sha256', rest, 'base64')
    },
  }
}
