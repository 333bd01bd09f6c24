import { crc32 } from 'node:zlib'

/** The characters of a key. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 34
const CHECK_CHARACTERS = 6

export type KeyPrefix = 'sk_' | 'pk_' | 'ok_'

/**
 * Generates a key: a prefix, 34 random characters (about 202 bits), and 6 characters of their CRC-32, by which secret scanners can
 * recognise a leaked key offline (D-KEY-2).
 */
export function generateKey(prefix: KeyPrefix, random: (count: number) => Buffer): string {
  let text = ''
  while (text.length < RANDOM_CHARACTERS) {
    // 248 is the largest multiple of 62 in a byte. Higher values would make the first characters more likely.
    for (const byte of random(RANDOM_CHARACTERS * 2)) if (byte < 248 && text.length < RANDOM_CHARACTERS) text += BASE62[byte % 62]
  }
  return prefix + text + checkOf(text)
}

function checkOf(text: string): string {
  let rest = crc32(text)
  let check = ''
  for (let i = 0; i < CHECK_CHARACTERS; i++) {
    check = BASE62[rest % 62] + check
    rest = Math.floor(rest / 62)
  }
  return check
}

/** A masked key: the prefix, eight stars and the last four characters (D-KEY-3). */
export const maskKey = (prefix: string, last4: string): string => `${prefix}********${last4}`
