/** Rows as PostgreSQL sends them, for replies that are written without making values of them. */

/** Rows with these columns. Each value is its length, in four bytes, and its type's binary form; a null is the length -1 alone. */
export type RowBytes = {
  names: readonly string[]
  bytes: Buffer
  /** Where each row begins. */
  starts: number[]
  /** Gives the bytes to other rows. */
  release(): void
}

export const NO_ROW_BYTES: RowBytes = { names: [], bytes: Buffer.alloc(0), starts: [], release: () => undefined }

/** Buffers have it; it does not look at the name of an encoding. */
type Utf8 = { utf8Slice(start: number, end: number): string }

export const textOf = (bytes: Buffer, start: number, end: number): string => (bytes as unknown as Utf8).utf8Slice(start, end)

/** Four bytes as an integer with a sign: a length, which is -1 for a null, or a value. */
export const int4At = (bytes: Buffer, at: number): number =>
  ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)

export const LENGTH_BYTES = 4
const INT4_BYTES = 4
const TWO_TO_32 = 2 ** 32

/** An integer of four or eight bytes. It is exact only if it is a safe integer. */
export const integerOf = (bytes: Buffer, start: number, end: number): number =>
  end - start === INT4_BYTES ? int4At(bytes, start) : int4At(bytes, start) * TWO_TO_32 + (int4At(bytes, start + INT4_BYTES) >>> 0)

export const booleanOf = (bytes: Buffer, start: number): boolean => bytes[start] === 1

const EPOCH_MS = Date.UTC(2000)

/** The milliseconds of a `timestamptz`, which is stored as microseconds since 2000. */
export function instantOf(bytes: Buffer, start: number, end: number): number {
  const micros = integerOf(bytes, start, end)
  if (Number.isSafeInteger(micros)) return Math.floor(micros / 1000) + EPOCH_MS
  // Before 1715, and from 2285 on.
  const exact = bytes.readBigInt64BE(start)
  return Number((exact - (((exact % 1000n) + 1000n) % 1000n)) / 1000n) + EPOCH_MS
}

/** A column of the row that begins at a position, read with `read`, or null. */
export function valueIn<T>(
  { names, bytes }: RowBytes,
  start: number,
  name: string,
  read: (bytes: Buffer, start: number, end: number) => T,
): T | null {
  let at = start
  for (let skip = names.indexOf(name); skip > 0; skip--) at += LENGTH_BYTES + Math.max(int4At(bytes, at), 0)
  const length = int4At(bytes, at)
  return length === -1 ? null : read(bytes, at + LENGTH_BYTES, at + LENGTH_BYTES + length)
}
