/**
 * Large texts of the results of tasks. A thread writes them one behind the other into its memory, and gives a copy of what it wrote away with
 * its reply. So they are never on the heap of the main thread, where the collector would move each of them several times while it is sent.
 */

/** Where a text lies in the bytes of its reply. Of ASCII, each byte is a character. */
export type Packed = { at: number; length: number; isAscii: boolean }

const BYTES_FIRST = 262_144
/** A reply with more leaves no memory behind. */
const BYTES_KEPT_MAX = 16_777_216

export type Packer = {
  /** Packs a text. A lone surrogate becomes U+FFFD. */
  pack(text: string): Packed
  /** What was packed since the last call; null if nothing was. */
  take(): ArrayBuffer | null
}

export function createPacker(): Packer {
  let bytes = Buffer.alloc(0)
  let used = 0
  const grow = (needed: number) => {
    const larger = Buffer.allocUnsafeSlow(Math.max(BYTES_FIRST, 2 ** Math.ceil(Math.log2(needed))))
    bytes.copy(larger, 0, 0, used)
    bytes = larger
  }
  return {
    pack(text) {
      const length = Buffer.byteLength(text)
      const isAscii = length === text.length
      if (used + length > bytes.length) grow(used + length)
      bytes.write(text, used, isAscii ? 'latin1' : 'utf8')
      const at = used
      used += length
      return { at, length, isAscii }
    },
    take() {
      if (used === 0) return null
      const taken = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + used)
      if (bytes.length > BYTES_KEPT_MAX) bytes = Buffer.alloc(0)
      used = 0
      return taken
    },
  }
}

/** The bytes of a packed text, where they lie. */
export const bytesOf = (bytes: ArrayBuffer, { at, length }: Packed): Buffer => Buffer.from(bytes, at, length)

/** A packed text. */
export const textOf = (bytes: ArrayBuffer, packed: Packed): string => bytesOf(bytes, packed).toString(packed.isAscii ? 'latin1' : 'utf8')
