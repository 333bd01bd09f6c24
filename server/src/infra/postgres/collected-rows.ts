import type { RowBytes } from '../../lib/row-bytes.ts'

const FREE_MAX = 16
const BYTES = 32_768

/** Used again, because memory outside of the heap is expensive to free. */
const free: Buffer[] = []

/** Rows that are kept as they arrive, for a reader that comes later. */
export class CollectedRows {
  #bytes = free.pop() ?? Buffer.allocUnsafeSlow(BYTES)
  #length = 0
  readonly #starts: number[] = []

  /** Adds a row. The bytes are copied: what rows arrive in is used again. */
  add(bytes: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.#length, start, end)
    this.#starts.push(this.#length)
    this.#length = length
  }

  rows(names: readonly string[]): RowBytes {
    const bytes = this.#bytes
    let isReleased = false
    const release = () => {
      if (!isReleased && bytes.length === BYTES && free.length < FREE_MAX) free.push(bytes)
      isReleased = true
    }
    return { names, bytes: bytes.subarray(0, this.#length), starts: this.#starts, release }
  }
}
