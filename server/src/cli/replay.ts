import { readConfig } from '../infra/runtime/config.ts'
import { openApi } from './call-api.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { OPTIONS } from './options.ts'

/** Delivers past events to a webhook endpoint again, in the background of the server. */
export const run: Command['run'] = async (args, env) => {
  const { endpoint, body, url, key, json } = replayOptions(args)
  await using api = await openApi(readConfig(env), { url, key })
  const replay = await api.call('POST', `/api/client/webhooks/${endpoint}/replays`, body)
  process.stdout.write(
    json
      ? `${JSON.stringify(replay, null, 2)}\n`
      : `Replay ${replay.id} is running: events from ${replay.since} to ${replay.until}. \`GET /api/client/webhooks/${endpoint}/replays\` shows how many were queued.\n`,
  )
}

/** Reads the arguments of the command. Throws `UsageError` if one is missing. */
export function replayOptions(args: string[]) {
  const { values, operands } = readArguments(args, OPTIONS.replay, 1)
  const [endpoint = ''] = operands
  if (!/^[1-9]\d{0,14}$/.test(endpoint))
    throw new UsageError('Specify the id of a webhook endpoint, as `GET /api/client/webhooks` lists it.')
  if (values.since === undefined) throw new UsageError('--since is required: the time of the first event, such as 2026-11-20T09:00:00Z.')
  const { since, until, events, 'unaccepted-only': unaccepted_only, url, key, json } = values
  const event_types = events?.split(',').map((type) => type.trim())
  return { endpoint, url, key, json, body: { since, unaccepted_only, ...(until && { until }), ...(event_types && { event_types }) } }
}
