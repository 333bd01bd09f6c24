/**
 * Text encodings of files. Spreadsheets save CSV as UTF-8, as UTF-16 (“Unicode text”) or in the code page of Western Windows, which
 * contains Latin-1. Files are stored as UTF-8 (D-IMP-1). Pure: it works on the pieces of a file in order.
 */
import { isAscii } from 'node:buffer'

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The names of these encodings in a `Content-Type`. */
export const CHARSETS = /^(?:utf-?8|utf-?16(?:le|be)?|(?:us-)?ascii|latin-?1|iso[-_]?8859-1|(?:windows|cp|x-cp)-?1252)$/i

/**
 * The encoding that a `Content-Type` names; undefined if it is to be detected. Programs write UTF-8 whatever the file is, and a byte order
 * mark shows which UTF-16 it is.
 */
export function encodingOfCharset(charset: string | undefined): Encoding | undefined {
  if (charset === undefined || /^utf-?(?:8|16)$/i.test(charset)) return undefined
  if (/^utf-?16le$/i.test(charset)) return 'utf-16le'
  return /^utf-?16be$/i.test(charset) ? 'utf-16be' : 'windows-1252'
}

/** Converts the next piece of a file to UTF-8; without one, ends the file. Throws `NotText`. */
export type Converter = (piece?: Buffer) => Buffer

/** The bytes are not text in the encoding. */
export class NotText extends Error {}

const NOTHING = Buffer.alloc(0)

/** A converter for a file. Without a given encoding, the file’s first piece decides. */
export function converterFrom(given: Encoding | undefined): Converter {
  let convert: Converter | undefined
  return (piece) => {
    convert ??= converterOf(given ?? encodingOf(piece ?? NOTHING))
    return convert(piece)
  }
}

function converterOf(encoding: Encoding | 'utf-8 or windows-1252'): Converter {
  if (encoding === 'utf-8') return utf8()
  return encoding === 'utf-8 or windows-1252' ? utf8OrWindows1252() : decodedFrom(encoding)
}

/** UTF-16 by its byte order mark, or, without one, by the zero bytes of its first two characters. */
function encodingOf([a = 1, b = 1, c = 1, d = 1]: Buffer): Encoding | 'utf-8 or windows-1252' {
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'utf-16le'
  if (a === 0 && b !== 0 && c === 0 && d !== 0) return 'utf-16be'
  return 'utf-8 or windows-1252'
}

/** Removes the byte order mark of UTF-16. */
function decodedFrom(encoding: Exclude<Encoding, 'utf-8'>): Converter {
  const decoder = new TextDecoder(encoding, { fatal: true })
  return (piece) => Buffer.from(decode(decoder, piece))
}

/** Checks UTF-8 and returns it as it is. */
function utf8(): Converter {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (piece) => {
    decode(decoder, piece)
    return piece ?? NOTHING
  }
}

/** The first piece that is not ASCII decides: it is read as Windows-1252 if few of its other characters are valid UTF-8. */
function utf8OrWindows1252(): Converter {
  let decided: Converter | undefined
  let held = NOTHING
  return (piece) => {
    if (decided) return decided(piece)
    const bytes = Buffer.concat([held, piece ?? NOTHING])
    const whole = bytes.subarray(0, bytes.length - incompleteCharacter(bytes))
    if (isAscii(whole) && piece) {
      held = bytes.subarray(whole.length)
      return whole
    }
    const unicode = utf8()
    try {
      if (!piece && whole.length < bytes.length) throw new NotText()
      const converted = unicode(bytes)
      decided = unicode
      return converted
    } catch (error) {
      if (isRatherUtf8(bytes) || (!piece && isRatherCutOff(held))) throw error
      decided = decodedFrom('windows-1252')
      return decided(bytes)
    }
  }
}

/**
 * Whether the only bytes of a file that are not ASCII, at its end, are rather a cut-off character of UTF-8: Windows-1252 would write two
 * symbols in a row, or Â or Ã, with which UTF-8 begins the letters of Western Europe.
 */
const isRatherCutOff = (bytes: Buffer): boolean => bytes.length > 1 || bytes[0] === 0xc2 || bytes[0] === 0xc3

/** The number of bytes at the end of a piece that begin a character of UTF-8, whose other bytes are in the next piece. */
function incompleteCharacter(bytes: Buffer): number {
  for (let length = 1; length <= 3; length++) {
    const byte = bytes.at(-length) ?? 0
    // A byte inside a character begins with the bits 10, the first one with a bit for each byte of it.
    if (byte >> 6 !== 0b10) return Math.clz32(~(byte << 24)) > length ? length : 0
  }
  return 0
}

/** Text in Windows-1252 hardly ever contains two characters that are one in UTF-8. */
function isRatherUtf8(piece: Buffer): boolean {
  let [valid, invalid] = [0, 0]
  for (const character of piece.toString('utf8')) {
    if (character === '\ufffd') invalid++
    else if (character > '\u007f') valid++
  }
  return valid > invalid
}

function decode(decoder: InstanceType<typeof TextDecoder>, piece: Buffer | undefined): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined })
  } catch {
    throw new NotText()
  }
}

/** Whether a file begins like a ZIP archive, which an XLSX or ODS workbook is, or like an XLS workbook. */
export function isWorkbook(piece: Buffer): boolean {
  return WORKBOOKS.some((mark) => piece.subarray(0, mark.length).equals(mark))
}

const WORKBOOKS = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')]
