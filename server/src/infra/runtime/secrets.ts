/**
 * Random bytes, hashes, signatures, and encryption with AES-256-GCM. Encrypted text starts with the id of its key, so that keys can
 * be rotated: the first key encrypts, and all of them decrypt.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A text was encrypted with a key that this process does not have. */
export class MissingKey extends Error {}

export type Secrets = {
  /** Returns `count` random bytes. */
  random(count: number): Buffer
  /** Encrypts a text for storage. `context` (such as a table and id) must be the same when it is decrypted. */
  seal(plain: string, context: string): string
  /** Decrypts a text. Throws if it was changed or has another context, and `MissingKey` if its key is not configured. */
  open(sealed: string, context: string): string
  /** Signs a text for a purpose, `context`. The signature has 22 URL-safe characters (HMAC-SHA256, truncated). */
  sign(text: string, context: string): string
  /** Was the text signed for this context with any of the keys? */
  isSigned(text: string, signature: string, context: string): boolean
}

const IV_BYTES = 12
const TAG_BYTES = 16
const SIGNATURE_CHARACTERS = 22

const POOL_BYTES = 8192

/** Random bytes from a pool, because each request needs a few, and each system call costs time. */
function pooledRandom(): (count: number) => Buffer {
  let pool = Buffer.alloc(0)
  return (count) => {
    if (count > POOL_BYTES) return randomBytes(count)
    if (pool.length < count) pool = randomBytes(POOL_BYTES)
    const taken = Buffer.from(pool.subarray(0, count))
    pool = pool.subarray(count)
    return taken
  }
}

/** `keys` are `id:base64` entries, newest first, which the configuration has validated. */
export function createSecrets(keys: readonly string[], random: (count: number) => Buffer = pooledRandom()): Secrets {
  const ring = new Map(
    keys.map((entry) => [entry.slice(0, entry.indexOf(':')), Buffer.from(entry.slice(entry.indexOf(':') + 1), 'base64')]),
  )
  const [newest] = ring
  if (!newest) throw new Error('At least one encryption key is needed.')
  const [newestId, newestKey] = newest
  // Signing uses separate keys, which are derived from the encryption keys.
  const signing = [...ring.values()].map((key) => hmacWith(createHmac('sha256', key).update('sign').digest()))
  const signed = (hmac: Hmac, text: string, context: string) => hmac(`${context}\n${text}`).slice(0, SIGNATURE_CHARACTERS)
  const newestSigning = signing[0] as Hmac
  return {
    random,
    seal(plain, context) {
      const iv = random(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', newestKey, iv).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `${newestId}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')}`
    },
    open(sealed, context) {
      const at = sealed.indexOf('.')
      const key = ring.get(sealed.slice(0, at))
      if (!key) throw new MissingKey(`The encryption key \`${sealed.slice(0, at)}\` is not in SECRETS_KEY.`)
      const bytes = Buffer.from(sealed.slice(at + 1), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
    sign: (text, context) => signed(newestSigning, text, context),
    isSigned(text, signature, context) {
      const given = Buffer.from(signature)
      return given.length === SIGNATURE_CHARACTERS && signing.some((key) => timingSafeEqual(Buffer.from(signed(key, text, context)), given))
    },
  }
}

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const TEXT_BYTES_MAX = 8192
const [INNER, OUTER] = [0x36, 0x5c]

type Hmac = (text: string) => string

/**
 * HMAC-SHA-256 with one key, in base64url. An email has a dozen signatures, and two hashes (RFC 2104) take half the time of the object that
 * Node makes for each.
 */
function hmacWith(key: Buffer): Hmac {
  const padded = Buffer.concat([key, Buffer.alloc(BLOCK_BYTES - key.length)])
  const inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES)
  for (const [at, byte] of padded.entries()) {
    inner[at] = byte ^ INNER
    outer[at] = byte ^ OUTER
  }
  return (text) => {
    if (3 * text.length > TEXT_BYTES_MAX) return createHmac('sha256', key).update(text).digest('base64url')
    const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES, 'utf8')
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, 'base64url')
  }
}

/** SHA-256 in hexadecimal. For random secrets, which need no slow hash (D-KEY-2). */
export const sha256 = (text: string | Buffer): string => hash('sha256', text)

/** Are two texts the same? Takes the same time wherever they differ, so that a secret cannot be guessed piece by piece. */
export const isSameSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(secret)))
