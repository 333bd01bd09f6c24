import { systemClock } from '../../infra/runtime/clock.ts'
import { readConfig } from '../../infra/runtime/config.ts'
import { DAY_MS } from '../../lib/times.ts'
import { openApi } from '../call-api.ts'
import type { Command } from '../command.ts'
import { seedOptions, seedProject } from './seed.ts'

/** Seeds a project over the API of a server. */
export const run: Command['run'] = async (args, env) => {
  const options = seedOptions(args)
  await using api = await openApi(readConfig(env), options)
  // The start of the day, so that the same command invents the same events all day.
  const today = new Date(Math.floor(systemClock.now().getTime() / DAY_MS) * DAY_MS)
  await seedProject(options, api.call, today, (line) => process.stdout.write(`${line}\n`))
}
