/** One-time codes by time (RFC 6238): six digits, 30 seconds, SHA-1, which is what authenticator apps have. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const STEP_SECONDS = 30
const DIGITS = 6
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Bytes as RFC 4648 base32, without padding, as apps take secrets that are typed. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + BASE32[(held << (5 - bits)) & 31] : text
}

/** The number of the time step that an instant is in. */
export const stepAt = (now: Date): number => Math.floor(now.getTime() / 1000 / STEP_SECONDS)

/** The code of a time step (RFC 4226 §5.3). */
export function codeAt(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac[mac.length - 1] as number) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

/**
 * The step of a code: that of the instant, the one before or the one after, because clocks differ. Undefined if it belongs to none of them.
 */
export function stepOf(secret: Uint8Array, code: string, now: Date): number | undefined {
  const given = Buffer.from(code.padEnd(DIGITS).slice(0, DIGITS))
  if (code.length !== DIGITS || given.length !== DIGITS) return undefined
  const step = stepAt(now)
  return [step, step - 1, step + 1].find((candidate) => candidate >= 0 && timingSafeEqual(Buffer.from(codeAt(secret, candidate)), given))
}

/** The URL that an authenticator app reads from a QR code. */
export const totpUrl = (issuer: string, name: string, secret: Uint8Array): string =>
  `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(name)}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
