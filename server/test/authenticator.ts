/** An authenticator of passkeys in software: ES256, without attestation. */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

const UINT = 0
const NEGATIVE = 1
const BYTES = 2
const TEXT = 3
const MAP = 5

/** The head of an item of CBOR (RFC 8949). */
function head(kind: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(kind << 5) | value])
  if (value < 256) return Buffer.from([(kind << 5) | 24, value])
  return Buffer.from([(kind << 5) | 25, value >> 8, value & 255])
}

const int = (value: number) => (value < 0 ? head(NEGATIVE, -1 - value) : head(UINT, value))
const bytes = (value: Buffer) => Buffer.concat([head(BYTES, value.length), value])
const text = (value: string) => Buffer.concat([head(TEXT, Buffer.byteLength(value)), Buffer.from(value)])
const map = (...entries: [Buffer, Buffer][]) => Buffer.concat([head(MAP, entries.length), ...entries.flat()])

const sha256 = (value: string | Buffer) => createHash('sha256').update(value).digest()
const base64url = (value: Buffer) => value.toString('base64url')

const USER_PRESENT = 1
const USER_VERIFIED = 4
const HAS_CREDENTIAL = 64

/** What a test changes of an answer. */
export type Deviation = { origin?: string; rpId?: string; isVerified?: boolean; count?: number; challenge?: string; userHandle?: string }

type CreationOptions = { challenge: string; rp: { id: string }; user: { id: string } }
type RequestOptions = { challenge: string; rpId: string }

export type Authenticator = {
  credentialId: string
  /** Makes a credential, as `navigator.credentials.create` does. */
  create(options: CreationOptions, origin: string, deviation?: Deviation): Record<string, unknown>
  /** Signs a challenge, as `navigator.credentials.get` does. */
  get(options: RequestOptions, origin: string, deviation?: Deviation): Record<string, unknown>
}

const clientData = (type: string, challenge: string, origin: string) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

function authenticatorData(rpId: string, flags: number, count: number): Buffer {
  const counted = Buffer.alloc(4)
  counted.writeUInt32BE(count)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), counted])
}

/** A public key in COSE. */
function cose(publicKey: KeyObject): Buffer {
  const { x, y } = publicKey.export({ format: 'jwk' })
  const coordinate = (value = '') => bytes(Buffer.from(value, 'base64url'))
  return map([int(1), int(2)], [int(3), int(-7)], [int(-1), int(1)], [int(-2), coordinate(x)], [int(-3), coordinate(y)])
}

/** Opens an authenticator with one credential. `counts` says whether it counts its signatures. */
export function openAuthenticator({ counts = true, id = randomBytes(16) }: { counts?: boolean; id?: Buffer } = {}): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let count = 0
  let handle = ''
  const flagsOf = ({ isVerified = true }: Deviation) => USER_PRESENT | (isVerified ? USER_VERIFIED : 0)
  return {
    credentialId: base64url(id),
    create({ challenge, rp, user }, origin, deviation = {}) {
      handle = user.id
      const data = authenticatorData(deviation.rpId ?? rp.id, flagsOf(deviation) | HAS_CREDENTIAL, 0)
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose(publicKey)])
      const attestation = map(
        [text('fmt'), text('none')],
        [text('attStmt'), map()],
        [text('authData'), bytes(Buffer.concat([data, credential]))],
      )
      return {
        credential_id: base64url(id),
        client_data: base64url(clientData('webauthn.create', deviation.challenge ?? challenge, deviation.origin ?? origin)),
        attestation: base64url(attestation),
        transports: ['internal'],
      }
    },
    get({ challenge, rpId }, origin, deviation = {}) {
      count = deviation.count ?? (counts ? count + 1 : 0)
      const data = authenticatorData(deviation.rpId ?? rpId, flagsOf(deviation), count)
      const client = clientData('webauthn.get', deviation.challenge ?? challenge, deviation.origin ?? origin)
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey)
      return {
        credential_id: base64url(id),
        client_data: base64url(client),
        authenticator_data: base64url(data),
        signature: base64url(signature),
        user_handle: deviation.userHandle ?? handle,
      }
    },
  }
}
