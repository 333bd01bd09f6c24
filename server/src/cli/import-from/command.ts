import { resolve } from 'node:path'
import { createSafeFetch } from '../../infra/outgoing/safe-fetch.ts'
import { readConfig } from '../../infra/runtime/config.ts'
import { egressPolicy } from '../../lib/egress.ts'
import { CLI_USER_AGENT, VERSION } from '../../lib/versions.ts'
import { callApi, firstKey } from '../call-api.ts'
import type { Command } from '../command.ts'
import { importFrom, importOptions } from './import-from.ts'

/** Imports a file over the API of a server. */
export const run: Command['run'] = async (args, env) => {
  const options = importOptions(args)
  const config = readConfig(env)
  const key = options.key ?? (options.isDryRun ? '' : await firstKey(resolve(config.DATA_DIR)))
  // Any address is allowed, because the user of the command line chose it.
  await using fetch = createSafeFetch({
    policy: egressPolicy(['0.0.0.0/0', '::/0']),
    userAgent: `${CLI_USER_AGENT}${VERSION}`,
    anyPort: true,
  })
  const call = callApi(fetch, options.url ?? `http://127.0.0.1:${config.PORT}`, key)
  await importFrom(options, call, (line) => process.stdout.write(`${line}\n`))
}
