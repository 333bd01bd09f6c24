/** Key pairs of DKIM (RFC 6376, RFC 8463), and the DNS records that publish them. Pure. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

export const DKIM_ALGORITHMS = ['rsa-sha256', 'ed25519-sha256'] as const
export type DkimAlgorithm = (typeof DKIM_ALGORITHMS)[number]

/** A key that signs for a domain. Its public half is published at `<selector>._domainkey.<domain>`. */
export type DkimKey = { domain: string; selector: string; algorithm: DkimAlgorithm; key: KeyObject }

/** Every receiver verifies 2,048 bits, and the record of a longer key does not fit into one string of the DNS twice over. */
const RSA_BITS = 2048
const ED25519_KEY_BYTES = 32

const generate = promisify(generateKeyPair)

/** A new private key, as PEM. */
export async function generateDkimKey(algorithm: DkimAlgorithm): Promise<string> {
  const { privateKey } =
    algorithm === 'rsa-sha256' ? await generate('rsa', { modulusLength: RSA_BITS }) : await generate('ed25519', undefined)
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A private key from its PEM. */
export const readDkimKey = (pem: string): KeyObject => createPrivateKey(pem)

/** The public half of a private key, as the tag `p` of its record has it. */
export function publicKeyOf(privateKey: KeyObject, algorithm: DkimAlgorithm): string {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return (algorithm === 'rsa-sha256' ? spki : spki.subarray(-ED25519_KEY_BYTES)).toString('base64')
}

const KEY_TYPES: Record<DkimAlgorithm, string> = { 'rsa-sha256': 'rsa', 'ed25519-sha256': 'ed25519' }

/** The text of the TXT record that publishes a key. */
export const dkimRecord = (algorithm: DkimAlgorithm, publicKey: string): string => `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=${publicKey}`

/** The name of the TXT record that publishes a key. */
export const dkimRecordName = (selector: string, domain: string): string => `${selector}._domainkey.${domain}`
