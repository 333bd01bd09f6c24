/**
 * Passwords (D-CON-6): their hash is Argon2id, in the PHC format, so that a stored hash says what it was made with. Hashing runs in the
 * thread pool of Node and never blocks the event loop.
 */
import { type Argon2Parameters, argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import { createGate } from '../../lib/gate.ts'
import { COMMON_PASSWORDS } from './common-passwords.ts'

const PASSWORD_LENGTH_MIN = 12
const SALT_BYTES = 16
const TAG_BYTES = 32
const PASSES = 2
const PARALLELISM = 1
/** The thread pool has four threads, which files and DNS need too. */
const HASHES_AT_ONCE = 2

const deriveKey = promisify<'argon2id', Argon2Parameters, Buffer>(argon2)
const gate = createGate(HASHES_AT_ONCE)

type Cost = { memory: number; passes: number; parallelism: number }

const costOf = (ctx: Ctx): Cost => ({ memory: ctx.config.PASSWORD_HASH_KIB, passes: PASSES, parallelism: PARALLELISM })

const derive = (password: string, nonce: Buffer, cost: Cost): Promise<Buffer> =>
  // Two ways to type the same character are one password.
  gate(() => deriveKey('argon2id', { ...cost, message: Buffer.from(password.normalize('NFC')), nonce, tagLength: TAG_BYTES }))

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
const encode = ({ memory, passes, parallelism }: Cost, nonce: Buffer, tag: Buffer) =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`

const HASH = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Hashes a password for storage. */
export async function hashPassword(ctx: Ctx, password: string): Promise<string> {
  const nonce = ctx.secrets.random(SALT_BYTES)
  const cost = costOf(ctx)
  return encode(cost, nonce, await derive(password, nonce, cost))
}

const NO_TAG = Buffer.alloc(TAG_BYTES)
const NO_SALT = Buffer.alloc(SALT_BYTES)

/**
 * Whether this is the password of the hash. Without a hash it takes the same time and returns false, so that an unknown address cannot be told
 * from a wrong password.
 */
export async function isPassword(ctx: Ctx, password: string, hash: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, nonce, tag] = (hash === null ? null : HASH.exec(hash)) ?? []
  if (tag === undefined) {
    timingSafeEqual(await derive(password, NO_SALT, costOf(ctx)), NO_TAG)
    return false
  }
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return timingSafeEqual(await derive(password, Buffer.from(nonce as string, 'base64'), cost), Buffer.from(tag, 'base64'))
}

/** Was the hash made with a cost other than the current one? Then the password is hashed again at the next sign-in. */
export const isOutdated = (ctx: Ctx, hash: string): boolean => {
  const { memory, passes, parallelism } = costOf(ctx)
  return !hash.includes(`$m=${memory},t=${passes},p=${parallelism}$`)
}

/** Letters and digits in lower case: `Carillon-2026!` and `carillon2026` are the same idea. */
const simplified = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Throws 422 for a password that is short or that attackers try first. There are no rules about its characters. */
export function requireGoodPassword(password: string, email: string): void {
  if ([...password].length < PASSWORD_LENGTH_MIN)
    throw fault('validation_failed', 'password', `The password must have at least ${PASSWORD_LENGTH_MIN} characters.`)
  const plain = simplified(password)
  const [local = ''] = email.split('@')
  const isGuessable =
    new Set(plain).size < 3 ||
    COMMON_PASSWORDS.has(plain) ||
    [simplified(email), simplified(local), 'carillon'].some((word) => word.length > 3 && isOnly(plain, word))
  if (isGuessable)
    throw fault('validation_failed', 'password', 'This password is easy to guess. Choose another one, such as four unrelated words.')
}

/** Is the text a word repeated, with nothing but digits beside it? */
const isOnly = (text: string, word: string): boolean => text.includes(word) && /^\d*$/.test(text.replaceAll(word, ''))
