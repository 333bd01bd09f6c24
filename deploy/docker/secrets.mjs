/**
 * Creates the secrets of an installation with compose, once: `node secrets.mjs <folder>` writes the settings `carillon.env`, a file with the
 * value of each, and the password of the database. It changes no secret that exists, because what the keys encrypted cannot be read without
 * them. The server reads the files of the values, so these hold from then on, also if the operator changes them.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

const folder = process.argv[2]
if (!folder) throw new Error('Name the folder: node secrets.mjs <folder>')
const settings = join(folder, 'carillon.env')
/** `compose.yaml` gives the server the files of these (DATABASE_URL_FILE and so on). */
const READ = ['DATABASE_URL', 'SECRETS_KEY', 'SESSION_JWT_KEYS']

if (![settings, ...READ.map((name) => join(folder, name))].some((file) => existsSync(file))) {
  const password = randomBytes(24).toString('hex')
  mkdirSync(folder, { recursive: true })
  // The image of PostgreSQL reads it as another user. The folder is a volume that only these services have.
  writeFileSync(join(folder, 'postgres-password'), password, { mode: 0o644 })
  const lines = [
    `DATABASE_URL=postgres://carillon:${password}@postgres/carillon`,
    `SECRETS_KEY=a:${randomBytes(32).toString('base64')}`,
    `SESSION_JWT_KEYS=a:${randomBytes(32).toString('hex')}`,
  ]
  // Renamed when it is whole: a run that was cut off starts again.
  writeFileSync(`${settings}.new`, `${lines.join('\n')}\n`, { mode: 0o600 })
  renameSync(`${settings}.new`, settings)
}

const warn = (text) => process.stderr.write(`Warning: ${text}\n`)

// Installations of before have these values in `carillon.env` alone.
for (const [name, value] of Object.entries(existsSync(settings) ? parseEnv(readFileSync(settings, 'utf8')) : {})) {
  const file = join(folder, name)
  if (!READ.includes(name)) {
    warn(`${name} in carillon.env is not read. Set it under \`environment\` in compose.override.yaml.`)
  } else if (!existsSync(file)) {
    writeFileSync(`${file}.new`, value, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } else if (readFileSync(file, 'utf8').trim() !== value.trim()) {
    warn(`${name} in carillon.env is not that in the file ${name}, which the server reads. Change it in that file.`)
  }
}
