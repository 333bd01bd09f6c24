/**
 * Large texts of the results of tasks. A thread writes them one behind the other into a block of memory, which it gives away with its reply.
 * So they are never on the heap of the main thread, where the collector would move each of them several times while it is sent.
 */

/** Where a text lies in the bytes of its reply. Of ASCII, each byte is a character. */
export type Packed = { at: number; length: number; isAscii: boolean }

const BYTES_FIRST = 262_144
/** A reply with more leaves no memory behind. */
const BYTES_KEPT_MAX = 16_777_216
/** A block that is less full is kept, and its reply gets a copy. */
const FULL_FROM = 1 / 2

export type Packer = {
  /** Packs a text. A lone surrogate becomes U+FFFD. */
  pack(text: string): Packed
  /** What was packed since the last call; null if nothing was. */
  take(): ArrayBuffer | null
}

export function createPacker(): Packer {
  let bytes = Buffer.alloc(0)
  let used = 0
  let last = BYTES_FIRST
  const grow = (needed: number) => {
    const larger = Buffer.allocUnsafeSlow(Math.max(last, 2 ** Math.ceil(Math.log2(needed))))
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
      const isFull = used >= bytes.length * FULL_FROM
      const taken = isFull ? bytes.buffer : bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + used)
      last = bytes.length > BYTES_KEPT_MAX ? BYTES_FIRST : bytes.length
      if (isFull || bytes.length > BYTES_KEPT_MAX) bytes = Buffer.alloc(0)
      used = 0
      return taken
    },
  }
}

/** What a reply packed, as one of those has it who share it. */
export type PackedBytes = {
  readonly bytes: ArrayBuffer
  /**
   * Says that nothing reads it any more, neither here nor in a socket. When all who share it have said so, its memory is free at once. The
   * collector would find that later, and be called for it: it runs sooner the more memory lies outside of its heap.
   */
  release(): void
}

/** Shares what was packed between `count` owners. */
export function shareBytes(bytes: ArrayBuffer, count: number): PackedBytes[] {
  let left = count
  return Array.from({ length: count }, () => {
    let isHeld = true
    return {
      bytes,
      release() {
        if (isHeld && --left === 0) bytes.transfer(0)
        isHeld = false
      },
    }
  })
}

/** The bytes of a packed text, without copying them. */
export const bytesOf = (bytes: ArrayBuffer, { at, length }: Packed): Buffer => Buffer.from(bytes, at, length)

/** A packed text. */
export const textOf = (bytes: ArrayBuffer, packed: Packed): string => bytesOf(bytes, packed).toString(packed.isAscii ? 'latin1' : 'utf8')
