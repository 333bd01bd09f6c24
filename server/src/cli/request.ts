import { readConfig } from '../infra/runtime/config.ts'
import { type Call, jsonOf, openApi } from './call-api.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { OPTIONS } from './options.ts'

type Method = Parameters<Call>[0]

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Method[]

/** Sends one request to the API and prints the reply: JSON with line breaks, and text as it is; nothing for a reply without a body. */
export const run: Command['run'] = async (args, env) => {
  const { method, path, body, url, key } = requestOf(args, env)
  await using api = await openApi(readConfig(env), { url, key })
  const reply = await api.send(method, path, body)
  const isJson = reply.text !== '' && /^application\/json\b/i.test(reply.type)
  process.stdout.write(isJson ? `${JSON.stringify(jsonOf(reply, api.url), null, 2)}\n` : reply.text)
}

/** Reads the arguments of the command. Throws `UsageError` if they do not form a request. */
export function requestOf(args: string[], env: Record<string, string | undefined>) {
  const { values, operands } = readArguments(args, OPTIONS.request, 2)
  const [name = '', path = ''] = operands
  const method = name.toUpperCase()
  if (!METHODS.includes(method)) throw new UsageError(`Specify the method first: ${METHODS.join(', ')}.`)
  if (!path.startsWith('/')) throw new UsageError('Specify the path after the method, such as /api/client/users.')
  const { data, url, key = env.SECRET_KEY } = values
  return { method: method as Method, path, url, key, ...(data !== undefined && { body: bodyOf(data) }) }
}

function bodyOf(text: string): object {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // It is refused like JSON of another type.
  }
  throw new UsageError('--data must be a JSON object or array.')
}
