/**
 * Creates the secrets of an installation with compose, once: `node secrets.mjs <folder>` writes the settings `carillon.env`, a file with the
 * value of each, and the password of the database. It changes no secret that exists, because what the keys encrypted cannot be read without
 * them.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

const folder = process.argv[2]
if (!folder) throw new Error('Name the folder: node secrets.mjs <folder>')
const settings = join(folder, 'carillon.env')

if (!existsSync(settings)) {
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

// The server reads these (DATABASE_URL_FILE and so on). Written from `carillon.env` each time, which installations of before have alone.
for (const [name, value] of Object.entries(parseEnv(readFileSync(settings, 'utf8')))) {
  const file = join(folder, name)
  writeFileSync(`${file}.new`, value, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
