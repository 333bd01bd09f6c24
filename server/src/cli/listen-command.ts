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
  await using _ = await listen(listenOptions([...args, ...url]), {
    dataDir: resolve(config.DATA_DIR),
    print: (line) => process.stdout.write(`${line}\n`),
    clock: systemClock,
  })
  await waitForSignal()
}
