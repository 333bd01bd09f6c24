import { resolve } from 'node:path'
import { checkBackup, restoreDatabase } from '../infra/postgres/restore.ts'
import { type Config, readConfig } from '../infra/runtime/config.ts'
import { encryptionKeys, generatedKey, secretsFile } from '../infra/runtime/development-secrets.ts'
import { createLog } from '../infra/runtime/log.ts'
import { StartError } from '../lib/start-error.ts'
import { fingerprint } from './backup.ts'
import { type Command, CommandError, readArguments, UsageError } from './command.ts'
import { checkFiles, filesOf, openEmpty, putBackFiles } from './data-dir.ts'
import { withDatabase } from './database.ts'
import { restorableManifest } from './manifest.ts'
import { OPTIONS } from './options.ts'

/** Restores a backup into an empty database and an empty DATA_DIR, after all of its files were checked. */
export const run: Command['run'] = async (args, env) => {
  const { operands } = readArguments(args, OPTIONS.none, 1)
  if (operands[0] === undefined) throw new UsageError('Specify the folder of the backup.')
  const folder = resolve(operands[0])
  const config = readConfig({ LOG_LEVEL: 'warn', ...env })
  const dataDir = resolve(config.DATA_DIR)
  const manifest = await restorableManifest(folder)
  await checkFiles(manifest.files, folder)
  await requireKeys(config, manifest.secrets_keys, filesOf(folder))
  await checkBackup(manifest.database, folder)
  await openEmpty(dataDir, 'DATA_DIR')
  const foreign = await withDatabase(config, (url) =>
    restoreDatabase(url, manifest.database, folder, createLog(config.LOG_LEVEL)).catch((error) => {
      if (!(error instanceof StartError))
        process.stderr.write(`The restore has failed. To repeat it, the database and ${dataDir} must be empty again.\n`)
      throw error
    }),
  )
  await putBackFiles(manifest.files, folder, dataDir)
  if (foreign.length > 0) process.stderr.write(`Not restored, because they are not Carillon tables: ${foreign.join(', ')}.\n`)
  process.stdout.write(`Restored ${folder}. Start the server.\n${MAIL_IS_HELD}`)
}

const MAIL_IS_HELD = `
Email that this server delivers itself is paused in every project, because what waited in the mail queue may have been delivered after the
backup. In each project, cancel what must not be delivered again (POST /api/client/mail-queue/cancel), and then resume
(POST /api/client/mail-queue/resume with an empty object). The page "Mail queue" of the console does both.
`

/** Throws `CommandError` if a server with this configuration would lack one of the keys, given by their fingerprints. */
async function requireKeys(config: Config, needed: string[], dataDir: string): Promise<void> {
  const known = new Set((await encryptionKeys(config, dataDir)).map(fingerprint))
  const missing = needed.filter((key) => !known.has(key))
  if (missing.length === 0) return
  const generated = await generatedKey(dataDir)
  const place = generated !== undefined && missing.includes(fingerprint(generated)) ? `, \`sealing\` in ${secretsFile(dataDir)},` : ''
  throw new CommandError(
    `SECRETS_KEY does not contain a key that is needed to decrypt the secrets in the backup. Add that key${place} at the end of SECRETS_KEY.`,
  )
}
