/**
 * The content of emails while they come in. Any client may send as slowly as it likes, so that what all of them have sent is limited together.
 * It is copied into pieces of one size: the many small buffers of a slow client would take far more memory than what they contain.
 */
import type { SMTPServerDataStream } from 'smtp-server'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/times.ts'

/** Memory that the connections of one or more listeners share. */
export type ContentMemory = {
  /** Takes some of it. False if so much is not left. */
  take(bytes: number): boolean
  release(bytes: number): void
}

export function createContentMemory(bytesMax: number): ContentMemory {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false
      taken += bytes
      return true
    },
    release(bytes) {
      taken -= bytes
    },
  }
}

/** The first piece is not counted: the number of connections limits it, and so small emails come in while the memory is full. */
const PIECE_BYTES = 65_536
/** In total. A client that stops is disconnected earlier. */
const CONTENT_MAX_MS = 10 * MINUTE_MS

export type ContentLimits = {
  memory: ContentMemory
  /** So much of an email is kept. The rest is received and dropped. */
  bytesKept: number
  clock: Clock
}

/** `refused`: its server refuses it, or its client was lost. `full`: the memory was. `late`: it took too long, and the connection must end. */
export type Content = { is: 'whole'; bytes: Buffer } | { is: 'refused' | 'full' | 'late' }

/** Receives an email, and hands it to `use`. Its memory is taken until that is over. */
export async function withContent<T>(
  stream: SMTPServerDataStream,
  limits: ContentLimits,
  use: (content: Content) => Promise<T>,
): Promise<T> {
  using pieces = createPieces(limits)
  const is = await read(stream, pieces, limits.clock)
  return await use(is === 'whole' ? { is, bytes: pieces.join() } : { is })
}

type Pieces = ReturnType<typeof createPieces>

function createPieces({ memory, bytesKept }: ContentLimits) {
  let pieces: Buffer[] = []
  let length = 0
  let taken = 0
  const addPiece = (): boolean => {
    if (pieces.length > 0) {
      if (!memory.take(PIECE_BYTES)) return false
      taken += PIECE_BYTES
    }
    pieces.push(Buffer.allocUnsafeSlow(PIECE_BYTES))
    return true
  }
  const drop = () => {
    pieces = []
    memory.release(taken)
    taken = 0
  }
  return {
    /** False if there is no memory left for it. */
    add(chunk: Buffer): boolean {
      const kept = chunk.subarray(0, bytesKept - length)
      for (let at = 0; at < kept.length; ) {
        const filled = length % PIECE_BYTES
        if (filled === 0 && !addPiece()) return false
        const copied = kept.copy(pieces.at(-1) as Buffer, filled, at)
        at += copied
        length += copied
      }
      return true
    },
    join(): Buffer {
      const whole = Buffer.concat(pieces, length)
      pieces = []
      return whole
    },
    drop,
    [Symbol.dispose]: drop,
  }
}

async function read(stream: SMTPServerDataStream, pieces: Pieces, clock: Clock): Promise<Content['is']> {
  const ended = new AbortController()
  let isLate = false
  let isFull = false
  void clock.sleep(CONTENT_MAX_MS, ended.signal).then(() => {
    if (ended.signal.aborted) return
    isLate = true
    stream.destroy()
  })
  try {
    for await (const chunk of stream) {
      if (!isFull && !stream.sizeExceeded && pieces.add(chunk as Buffer)) continue
      // The reply must wait for the end of the email.
      isFull = true
      pieces.drop()
    }
  } catch {
    return isLate ? 'late' : 'refused'
  } finally {
    ended.abort()
  }
  if (stream.sizeExceeded) return 'refused'
  return isFull ? 'full' : 'whole'
}
