/** How long each stage of an SMTP session may take. Pure. */

/** The limits hold however the server spends the time: bytes that complete no reply do not extend them. */
export type SessionLimits = {
  greetingMs: number
  tlsMs: number
  commandMs: number
  /** For each block of a mail’s content, if the server takes none of it; and on average. */
  blockMs: number
  /** For the reply to the content. */
  finalMs: number
  /** How long a connection without a mail is kept. */
  idleMs: number
}

const BLOCK_BYTES = 256 * 1024
/** Nothing depends on the reply to QUIT. */
const QUIT_MS = 5000

/** The limit while a reply is `awaited`. `writing` is the size of the content that is being written, or null. */
export function limitOf(limits: SessionLimits, awaited: string | null, writing: number | null): number {
  switch (awaited) {
    case null:
      return limits.idleMs
    case 'greeting':
      return limits.greetingMs
    case 'body':
      return writing === null ? limits.finalMs : limits.blockMs * Math.max(1, Math.ceil(writing / BLOCK_BYTES))
    case 'quit':
      return Math.min(limits.commandMs, QUIT_MS)
    default:
      return limits.commandMs
  }
}
