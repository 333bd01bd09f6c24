/** Reads the replies of an SMTP server from bytes (RFC 5321 §4.2), however they are cut. Pure. */
import { isUtf8 } from 'node:buffer'

/** A reply: its code, and the text of its lines. */
export type Reply = { code: number; lines: string[] }

/** A server that sends something else than replies. */
export class ReplyError extends Error {}

const LINE_BYTES_MAX = 4096
const LINES_MAX = 200
const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/

/** Collects bytes until replies are complete. `read` returns those that are, and throws `ReplyError`. */
export function createReplyReader(): { read(bytes: Buffer): Reply[]; isEmpty(): boolean } {
  let rest = ''
  let lines: string[] = []
  let code = 0
  return {
    read(bytes) {
      const replies: Reply[] = []
      rest += bytes.toString('latin1')
      for (;;) {
        const end = rest.indexOf('\n')
        if (end === -1) break
        const line = rest.slice(0, rest.charCodeAt(end - 1) === CR ? end - 1 : end)
        rest = rest.slice(end + 1)
        const [, digits, separator = ' ', text = ''] = LINE.exec(line) ?? []
        if (digits === undefined || (lines.length > 0 && Number(digits) !== code))
          throw new ReplyError(`The server sent ${JSON.stringify(line.slice(0, 80))}.`)
        code = Number(digits)
        lines.push(decoded(text))
        if (lines.length > LINES_MAX) throw new ReplyError('The server sent a reply with too many lines.')
        if (separator === '-') continue
        replies.push({ code, lines })
        lines = []
      }
      if (rest.length > LINE_BYTES_MAX) throw new ReplyError('The server sent a line that is too long.')
      return replies
    },
    isEmpty: () => rest === '' && lines.length === 0,
  }
}

const CR = 13

/** Most servers write UTF-8, some Latin 1: a whole line tells. */
function decoded(latin1: string): string {
  if (!NOT_ASCII.test(latin1)) return latin1
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1
}

const NOT_ASCII = /[\x80-\xff]/

/** The extensions that a server offers, by keyword in upper case, with their parameters. */
export function extensionsOf({ lines }: Reply): Map<string, string[]> {
  return new Map(
    lines.slice(1).map((line) => {
      // Some servers write `AUTH=PLAIN`.
      const [keyword = '', ...parameters] = line
        .trim()
        .replace(/^AUTH=/i, 'AUTH ')
        .split(/\s+/)
      return [keyword.toUpperCase(), parameters]
    }),
  )
}
