/** Replies whose JSON is written from the bytes of the database, without making values only to write them again. */
import { booleanOf, instantOf, int4At, integerOf, LENGTH_BYTES, type RowBytes, textOf } from './row-bytes.ts'

/** A reply as JSON. `T` is what it is the JSON of. */
export class Written<T> {
  declare readonly is: T
  readonly json: string
  constructor(json: string) {
    this.json = json
  }
}

/**
 * How a column is written: a `text` is quoted, an `instant` is a `timestamptz`, an `integer` has four or eight bytes, and `json` is a `jsonb`, which
 * is taken as it is. `or` names columns of texts: the first that is not null is written, and an empty text if all are.
 */
type ColumnKind<K> = 'text' | 'instant' | 'boolean' | 'integer' | 'json' | { or: K[] }

/** JSON that is being written. There is room for everything but texts that are escaped, which make room. */
type Out = { bytes: Buffer; at: number }

/** Writes the value between two places. */
type Write = (out: Out, from: Buffer, start: number, end: number) => void

type Member = { head: Buffer; columns: string[]; write: Write; none: Buffer }

const NULL = Buffer.from('null')
const EMPTY_TEXT = Buffer.from('""')
const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
const CLOSE = 0x7d
/** The longest that a value gets beside its own bytes: an instant of eight bytes has 26 characters, or 29 far from now. */
const ADDED_MAX = 24

/** Compiles a function that writes rows as JSON objects with these columns, in their order, between two texts. A null is written as null. */
export function rowsWriter<K extends string>(
  columns: Record<K, ColumnKind<K>>,
): (rows: RowBytes, starts: number[], before: string, after: string) => string {
  const members = Object.entries<ColumnKind<K>>(columns).map(
    ([name, kind], at): Member => ({
      head: Buffer.from(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      ...(typeof kind === 'object'
        ? { columns: [name, ...kind.or], write: writers.text, none: EMPTY_TEXT }
        : { columns: [name], write: writers[kind], none: NULL }),
    }),
  )
  const bytesOfRow = members.reduce((sum, { head }) => sum + head.length + ADDED_MAX, 2)
  return (rows, starts, before, after) => {
    const sources = members.map((member) => member.columns.map((name) => rows.names.indexOf(name)))
    const places = new Int32Array(rows.names.length * 2)
    const room = rows.bytes.length + starts.length * bytesOfRow + Buffer.byteLength(before) + Buffer.byteLength(after)
    const out = { bytes: scratchOf(room), at: 0 }
    out.at += out.bytes.write(before)
    for (let n = 0; n < starts.length; n++) {
      if (n > 0) out.bytes[out.at++] = COMMA
      findPlaces(rows.bytes, starts[n] as number, places)
      for (let m = 0; m < members.length; m++) writeMember(out, rows.bytes, places, members[m] as Member, sources[m] as number[])
      out.bytes[out.at++] = CLOSE
    }
    out.at += out.bytes.write(after, out.at)
    return textOf(out.bytes, 0, out.at)
  }
}

const SCRATCH_BYTES = 65_536
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

/** Room for the JSON of a page. Pages are written one at a time, and memory outside of the heap, of which each would need its own, is expensive to free. */
const scratchOf = (bytes: number): Buffer => (bytes <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(bytes))

/** Finds where the values of a row start and end. A null starts at -1. */
function findPlaces(bytes: Buffer, start: number, places: Int32Array) {
  let at = start
  for (let n = 0; n < places.length; n += 2) {
    const length = int4At(bytes, at)
    at += LENGTH_BYTES
    places[n] = length === -1 ? -1 : at
    if (length > 0) at += length
    places[n + 1] = at
  }
}

function writeMember(out: Out, from: Buffer, places: Int32Array, { head, write, none }: Member, sources: number[]) {
  copy(out, head, 0, head.length)
  for (let n = 0; n < sources.length; n++) {
    const place = (sources[n] as number) * 2
    const start = places[place] as number
    if (start !== -1) {
      write(out, from, start, places[place + 1] as number)
      return
    }
  }
  copy(out, none, 0, none.length)
}

/** A call costs more than a short loop. */
const SHORT_BYTES = 40

function copy(out: Out, from: Buffer, start: number, end: number) {
  const { bytes } = out
  let at = out.at
  if (end - start > SHORT_BYTES) at += from.copy(bytes, at, start, end)
  else for (let n = start; n < end; n++) bytes[at++] = from[n] as number
  out.at = at
}

/** What JSON does not take as it is in a text. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 1 : 0))

function writeQuoted(out: Out, from: Buffer, start: number, end: number) {
  const { bytes } = out
  let at = out.at
  bytes[at++] = QUOTE
  for (let n = start; n < end; n++) {
    const byte = from[n] as number
    if (ESCAPED[byte] === 1) {
      writeEscaped(out, JSON.stringify(textOf(from, start, end)))
      return
    }
    bytes[at++] = byte
  }
  bytes[at++] = QUOTE
  out.at = at
}

/** Writes a text that is longer than the value which room was made for. */
function writeEscaped(out: Out, json: string) {
  const bytes = Buffer.allocUnsafe(out.bytes.length + Buffer.byteLength(json))
  out.bytes.copy(bytes, 0, 0, out.at)
  out.bytes = bytes
  out.at += bytes.write(json, out.at)
}

const ZERO = 0x30
const INT4_MAX = 2_147_483_647

function writeInteger(out: Out, from: Buffer, start: number, end: number) {
  const value = integerOf(from, start, end)
  if (value >= 0 && value <= INT4_MAX) writeDigits(out, value, digitsOf(value))
  else writeAscii(out, String(Number.isSafeInteger(value) ? value : from.readBigInt64BE(start)))
}

function digitsOf(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  return digits
}

function writeDigits(out: Out, value: number, digits: number) {
  let left = value
  for (let at = out.at + digits - 1; at >= out.at; at--) {
    const tenth = (left / 10) | 0
    out.bytes[at] = ZERO + left - tenth * 10
    left = tenth
  }
  out.at += digits
}

function writeAscii(out: Out, text: string) {
  out.at += out.bytes.write(text, out.at, 'latin1')
}

const DAY_MS = 86_400_000
const YEARS = { from: Date.UTC(0, 0, 1), to: Date.UTC(10_000, 0, 1) }
const DATE_LENGTH = '2026-11-20'.length
const COLON = 0x3a
const POINT = 0x2e
const T = 0x54
const Z = 0x5a

/** The date that was written last. Rows that follow each other often have the same. */
const lastDate = { day: Number.NaN, text: '' }

/** Writes an instant in ISO 8601 with milliseconds. */
function writeInstant(out: Out, from: Buffer, start: number, end: number) {
  const ms = instantOf(from, start, end)
  out.bytes[out.at++] = QUOTE
  if (ms >= YEARS.from && ms < YEARS.to) writeInUsualYear(out, ms)
  else writeAscii(out, new Date(ms).toISOString())
  out.bytes[out.at++] = QUOTE
}

function writeInUsualYear(out: Out, ms: number) {
  const day = Math.floor(ms / DAY_MS)
  if (day !== lastDate.day) Object.assign(lastDate, { day, text: new Date(ms).toISOString().slice(0, DATE_LENGTH) })
  for (let n = 0; n < DATE_LENGTH; n++) out.bytes[out.at++] = lastDate.text.charCodeAt(n)
  const ofDay = ms - day * DAY_MS
  const seconds = (ofDay / 1000) | 0
  const minutes = (seconds / 60) | 0
  const hours = (minutes / 60) | 0
  writeAfter(out, T, hours, 2)
  writeAfter(out, COLON, minutes - hours * 60, 2)
  writeAfter(out, COLON, seconds - minutes * 60, 2)
  writeAfter(out, POINT, ofDay - seconds * 1000, 3)
  out.bytes[out.at++] = Z
}

function writeAfter(out: Out, sign: number, value: number, digits: number) {
  out.bytes[out.at++] = sign
  writeDigits(out, value, digits)
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

function writeBoolean(out: Out, from: Buffer, start: number) {
  const text = booleanOf(from, start) ? TRUE : FALSE
  copy(out, text, 0, text.length)
}

/** What comes before the text of a `jsonb`: the version of its form. */
const VERSION_BYTES = 1

const writers: Record<Exclude<ColumnKind<never>, object>, Write> = {
  text: writeQuoted,
  instant: writeInstant,
  boolean: writeBoolean,
  integer: writeInteger,
  json: (out, from, start, end) => copy(out, from, start + VERSION_BYTES, end),
}
