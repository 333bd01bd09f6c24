/** The secrets that production requires in the configuration. The development profile generates them, and keeps them in `DATA_DIR`. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** The file with generated secrets. */
export const secretsFile = (dataDir: string): string => join(dataDir, 'secrets.json')

/** The generated key that encrypts stored secrets. Undefined if none was generated in this folder. */
export async function generatedKey(dataDir: string): Promise<string | undefined> {
  const text = await readFile(secretsFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? undefined : JSON.parse(text).sealing
}

/** The keys that a server with this configuration and this `DATA_DIR` encrypts and decrypts with, without generating any. */
export async function encryptionKeys({ production, SECRETS_KEY }: Config, dataDir: string): Promise<readonly string[]> {
  if (production || SECRETS_KEY.length > 0) return SECRETS_KEY
  const generated = await generatedKey(dataDir)
  return generated === undefined ? [] : [generated]
}

/** The configuration, in the development profile with generated secrets in place of missing ones. They are kept in `DATA_DIR`. */
export async function withDevelopmentSecrets(config: Config): Promise<Config> {
  if (config.production || (config.SECRETS_KEY.length > 0 && config.SESSION_JWT_KEYS.length > 0)) return config
  const generated = await developmentSecrets(config.DATA_DIR)
  return Object.freeze({
    ...config,
    SECRETS_KEY: config.SECRETS_KEY.length > 0 ? config.SECRETS_KEY : [generated.sealing],
    SESSION_JWT_KEYS: config.SESSION_JWT_KEYS.length > 0 ? config.SESSION_JWT_KEYS : [generated.signing],
  })
}

async function developmentSecrets(dataDir: string): Promise<{ sealing: string; signing: string }> {
  await mkdir(dataDir, { recursive: true })
  const path = secretsFile(dataDir)
  const fresh = { sealing: `dev:${randomBytes(32).toString('base64')}`, signing: `dev:${randomBytes(32).toString('base64url')}` }
  // The first process links a complete file, so that a crash cannot leave part of one. All processes read that file.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, JSON.stringify(fresh), { mode: 0o600, flush: true })
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return JSON.parse(await readFile(path, 'utf8'))
}
