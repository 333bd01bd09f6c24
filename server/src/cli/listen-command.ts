import { resolve } from 'node:path'
import { systemClock } from '../infra/runtime/clock.ts'
import { readConfig } from '../infra/runtime/config.ts'
import type { Command } from './command.ts'
import { listen, listenOptions } from './listen.ts'
import { waitForSignal } from './signals.ts'

/** Prints webhook events in the order in which they happened, until it is stopped. */
export const run: Command['run'] = async (args, env) => {
  const config = readConfig(env)
  const url = args.some((arg) => arg.startsWith('--url')) ? [] : ['--url', `http://127.0.0.1:${config.PORT}`]
  // From now on, because the endpoint may be registered before the reply is here. SIGHUP is that of a terminal that is closed.
  const stopping = waitForSignal(['SIGTERM', 'SIGINT', 'SIGHUP'])
  await using _ = await listen(listenOptions([...args, ...url]), {
    dataDir: resolve(config.DATA_DIR),
    print: (line) => process.stdout.write(`${line}\n`),
    clock: systemClock,
  })
  await stopping
}
