/** Rows as PostgreSQL sends them, for replies that are written without making values of them. */

/** Rows with these columns. Each value is the length of its text, in four bytes, and its text in UTF-8; a null is the length -1 alone. */
export type RowBytes = {
  names: readonly string[]
  bytes: Buffer
  /** Where each row begins. */
  starts: number[]
  /** Gives the bytes to other rows. */
  release(): void
}

/** Buffers have it; it does not look at the name of an encoding. */
type Utf8 = { utf8Slice(start: number, end: number): string }

export const textOf = (bytes: Buffer, start: number, end: number): string => (bytes as unknown as Utf8).utf8Slice(start, end)

/** The length of the value at a position, or -1 for a null. */
export const lengthAt = (bytes: Buffer, at: number): number =>
  ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)

/** A length is so many bytes. */
export const LENGTH_BYTES = 4

/** The text of a column in the row that begins at a position. */
export function textIn({ names, bytes }: RowBytes, start: number, name: string): string | null {
  let at = start
  for (let skip = names.indexOf(name); skip > 0; skip--) at += LENGTH_BYTES + Math.max(lengthAt(bytes, at), 0)
  const length = lengthAt(bytes, at)
  return length === -1 ? null : textOf(bytes, at + LENGTH_BYTES, at + LENGTH_BYTES + length)
}

/** Rows of these texts. */
export function packed(names: readonly string[], rows: (string | null)[][]): RowBytes {
  const parts: Buffer[] = []
  const starts: number[] = []
  let length = 0
  const add = (part: Buffer) => {
    parts.push(part)
    length += part.length
  }
  for (const row of rows) {
    starts.push(length)
    for (const value of row) {
      const text = Buffer.from(value ?? '')
      const size = Buffer.alloc(LENGTH_BYTES)
      size.writeInt32BE(value === null ? -1 : text.length)
      add(size)
      add(text)
    }
  }
  return { names, bytes: Buffer.concat(parts), starts, release: () => undefined }
}
