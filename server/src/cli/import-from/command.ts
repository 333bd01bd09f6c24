import { readConfig } from '../../infra/runtime/config.ts'
import { openApi } from '../call-api.ts'
import type { Command } from '../command.ts'
import { importFrom, importOptions } from './import-from.ts'

/** Imports a file over the API of a server. */
export const run: Command['run'] = async (args, env) => {
  const { url, key, ...options } = importOptions(args)
  // A dry run sends nothing, so it needs no key.
  await using api = await openApi(readConfig(env), { url, key: key ?? (options.isDryRun ? '' : undefined) })
  await importFrom({ ...options, url, key }, api.call, (line) => process.stdout.write(`${line}\n`))
}
