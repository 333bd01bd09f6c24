/** The relaxed canonical form of headers and bodies (RFC 6376 §3.4), which survives what relays do to white space. Pure. */
import { createHash } from 'node:crypto'

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

/** The canonical form is hashed in pieces, so that it is not in memory as a whole. */
const PIECE_BYTES = 65_536
/** A byte is put with at most one space before it, and an empty line is two bytes. */
const MARGIN_BYTES = 4
const piece = Buffer.allocUnsafe(PIECE_BYTES + MARGIN_BYTES)

/** The hash of a body, as the tag `bh` has it. A lone LF ends a line too, as receivers read it; a lone CR does not. */
export function bodyHashOf(body: Uint8Array): string {
  const hashed = createHash('sha256')
  let filled = 0
  let emptyLines = 0
  let isBlankPending = false
  let isEmpty = true
  const putLineEnd = () => {
    if (filled >= PIECE_BYTES) flush()
    piece[filled++] = CR
    piece[filled++] = LF
  }
  const flush = () => {
    hashed.update(piece.subarray(0, filled))
    filled = 0
  }
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] as number
    if (byte === SPACE || byte === TAB) {
      isBlankPending = true
      continue
    }
    if (byte === CR && body[at + 1] === LF) continue
    if (byte === LF) {
      isBlankPending = false
      emptyLines++
      continue
    }
    for (; emptyLines > 0; emptyLines--) putLineEnd()
    if (filled >= PIECE_BYTES) flush()
    if (isBlankPending) {
      piece[filled++] = SPACE
      isBlankPending = false
    }
    piece[filled++] = byte
    isEmpty = false
  }
  if (!isEmpty) putLineEnd()
  flush()
  return hashed.digest('base64')
}
