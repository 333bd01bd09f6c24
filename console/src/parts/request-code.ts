/** A request of the console as code for others: with curl, on the command line and in TypeScript. */

import type { Write } from '../session/last-write.ts'

export type ShownRequest = Omit<Write, 'method'> & { method: 'GET' | Write['method'] }

const json = (value: unknown) => JSON.stringify(value, null, 2)

// Single quotes of a shell preserve everything except single quotes.
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const defined = (query: ShownRequest['query'] = {}) =>
  Object.fromEntries(Object.entries(query).filter((pair): pair is [string, string | number | boolean] => pair[1] !== undefined))

function addressOf({ path, params = {}, query }: ShownRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')))
  const pairs = Object.entries(defined(query)).map(([name, value]): [string, string] => [name, String(value)])
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`
}

/** The request with curl. The key comes from the environment. */
function curlOf(request: ShownRequest, origin: string): string {
  const { method, body } = request
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined)
  const lines = [`curl${isPlain ? '' : ` -X ${method}`} "${origin}${addressOf(request)}"`, '-H "Authorization: Bearer $SECRET_KEY"']
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${quoted(json(body))}`)
  return lines.join(' \\\n  ')
}

/** The request on the command line of the server, which takes the key from the environment too. */
function commandOf(request: ShownRequest, origin: string): string {
  const { method, body } = request
  const lines = [`carillon request ${method} ${quoted(addressOf(request))} --url ${quoted(origin)}`]
  if (body !== undefined) lines.push(`--data ${quoted(json(body))}`)
  return lines.join(' \\\n  ')
}

const member = (name: string, value: unknown) => `  ${name}: ${json(value).replaceAll('\n', '\n  ')},\n`

/** The request with the client of `sdk`. */
function typescriptOf(request: ShownRequest, origin: string): string {
  const { method, path, params, body } = request
  const query = defined(request.query)
  const options = [
    params ? member('path', params) : '',
    Object.keys(query).length > 0 ? member('query', query) : '',
    body !== undefined ? member('body', body) : '',
  ].join('')
  return [
    `const client = createClient({ baseUrl: '${origin}', apiKey: process.env.SECRET_KEY })`,
    `await client.${method.toLowerCase()}('${path}'${options ? `, {\n${options}}` : ''})`,
  ].join('\n')
}

/** The request in every language. */
export const samplesOf = (request: ShownRequest, origin: string): { language: string; text: string }[] => [
  { language: 'curl', text: curlOf(request, origin) },
  { language: 'CLI', text: commandOf(request, origin) },
  { language: 'TypeScript', text: typescriptOf(request, origin) },
]
