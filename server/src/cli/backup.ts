import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { backUpDatabase } from '../infra/postgres/backup.ts'
import { systemClock } from '../infra/runtime/clock.ts'
import { readConfig } from '../infra/runtime/config.ts'
import { encryptionKeys } from '../infra/runtime/development-secrets.ts'
import { VERSION } from '../lib/versions.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { copyFiles, openEmpty, writeManifest } from './data-dir.ts'
import { withDatabase } from './database.ts'
import { OPTIONS } from './options.ts'

/** A fingerprint that distinguishes a key from others without revealing it. */
export const fingerprint = (key: string): string => createHash('sha256').update(`carillon backup ${key}`).digest('hex').slice(0, 16)

/** Backs up the database, as it is at one instant, and the files of DATA_DIR. Servers can keep running meanwhile. */
export const run: Command['run'] = async (args, env) => {
  const { values, operands } = readArguments(args, OPTIONS.json, 1)
  if (operands[0] === undefined) throw new UsageError('Specify the folder of the backup.')
  const folder = resolve(operands[0])
  const config = readConfig({ LOG_LEVEL: 'warn', ...env })
  await openEmpty(folder, 'The folder')
  const createdAt = systemClock.now().toISOString()
  const database = await withDatabase(config, (url) => backUpDatabase(url, folder))
  const files = await copyFiles(resolve(config.DATA_DIR), folder)
  const secrets_keys = (await encryptionKeys(config, config.DATA_DIR)).map(fingerprint)
  await writeManifest(folder, { carillon: VERSION, created_at: createdAt, secrets_keys, files, database })
  const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
  const summary = { folder, schema_version: database.schema_version, tables: database.tables.length, rows, files: files.length }
  process.stdout.write(
    values.json
      ? `${JSON.stringify(summary, null, 2)}\n`
      : `Backed up ${rows} rows of ${summary.tables} tables and ${files.length} files of DATA_DIR to ${folder}.\n`,
  )
  if (database.left_out.length > 0)
    process.stderr.write(`Not backed up, because the database user may not read them: ${database.left_out.join(', ')}.\n`)
  if (config.SECRETS_KEY.length > 0)
    process.stderr.write('SECRETS_KEY and SESSION_JWT_KEYS come from the environment and are not in the backup. Keep them elsewhere.\n')
}
