/** Requests as code: with curl, in TypeScript and in Python. Keys come from environment variables. */
import type { Media, Operation, Parameter, Ref } from '../infra/http/openapi/types.ts'
import type { Access } from '../infra/http/route.ts'

export type Call = { method: string; path: string; operation: Operation; baseUrl: string }

/** What a request consists of. */
type Parts = { method: string; url: string; headers: Record<string, string>; type?: string; body?: unknown }

/** The path with the examples of its parameters. */
export function examplePath(path: string, parameters: (Parameter | Ref)[]): string {
  return parameters.reduce<string>(
    (path, parameter) =>
      'in' in parameter && parameter.in === 'path'
        ? path.replace(`{${parameter.name}}`, encodeURIComponent(String(parameter.example)))
        : path,
    path,
  )
}

function partsOf({ method, path, operation, baseUrl }: Call): Parts {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  return {
    method: method.toUpperCase(),
    url: baseUrl + examplePath(path, operation.parameters),
    headers: tokenOf(operation['x-access']),
    ...(type !== undefined && operation.requestBody?.required && { type, body: (media as Media).example }),
  }
}

const tokenOf = (access: Access): Record<string, string> =>
  keyOf(access) === 'PUBLISHABLE_KEY' ? { 'X-Service-User-Token': 'USER_TOKEN' } : {}

const keyOf = (access: Access) => ('secret' in access ? 'SECRET_KEY' : 'publishable' in access ? 'PUBLISHABLE_KEY' : 'ORGANISATION_KEY')

const json = (value: unknown) => JSON.stringify(value, null, 2)

/** A command for a shell. */
export function curlOf(call: Call): string {
  const { method, url, headers, type, body } = partsOf(call)
  const verb = method === 'GET' || (method === 'POST' && type !== undefined) ? '' : ` -X ${method}`
  const token = Object.entries(headers).map(([name, variable]) => `-H "${name}: $${variable}"`)
  return [`curl${verb} "${url}"`, `-H "Authorization: Bearer $${keyOf(call.operation['x-access'])}"`, ...token, ...dataOf(type, body)].join(
    ' \\\n  ',
  )
}

function dataOf(type: string | undefined, body: unknown): string[] {
  if (type === undefined) return []
  if (type === 'application/json') return ['-H "Content-Type: application/json"', `-d ${quoted(json(body))}`]
  if (type === 'text/csv') return ['-H "Content-Type: text/csv"', '--data-binary "@users.csv"']
  return Object.entries(body as Record<string, string>).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`)
}

// Single quotes preserve everything except single quotes.
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)

/** TypeScript for Node. */
export function typescriptOf(call: Call): string {
  const { method, url, headers, type, body } = partsOf(call)
  const named = [
    `Authorization: \`Bearer \${process.env.${keyOf(call.operation['x-access'])}}\``,
    ...Object.entries(headers).map(([name, variable]) => `'${name}': String(process.env.${variable})`),
    ...(type === undefined || type.startsWith('application/x-www') ? [] : [`'Content-Type': '${type}'`]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    named.length === 1 ? `headers: { ${named[0]} },` : `headers: {\n${named.map((line) => `    ${line},`).join('\n')}\n  },`,
    ...(type === undefined ? [] : [`body: ${typescriptBody(type, body)},`]),
  ]
  return `const reply = await fetch('${url}', {\n${options.map((line) => `  ${line}`).join('\n')}\n})\n${lastLine(call, 'ts')}`
}

function typescriptBody(type: string, body: unknown): string {
  if (type === 'application/json') return `JSON.stringify(${indented(json(body), '  ')})`
  return type === 'text/csv' ? json(body) : `new URLSearchParams(${indented(json(body), '  ')})`
}

/** Python with the package `requests`. */
export function pythonOf(call: Call): string {
  const { method, url, headers, type, body } = partsOf(call)
  const named = [
    `"Authorization": f"Bearer {os.environ['${keyOf(call.operation['x-access'])}']}"`,
    ...Object.entries(headers).map(([name, variable]) => `"${name}": os.environ["${variable}"]`),
    ...(type === 'text/csv' ? ['"Content-Type": "text/csv"'] : []),
  ]
  const member = type === 'application/json' ? 'json' : 'data'
  const options = [
    `"${url}",`,
    `headers={${named.join(', ')}},`,
    ...(type === undefined ? [] : [`${member}=${indented(python(body), '    ')},`]),
  ]
  return `import os, requests\n\nreply = requests.${method.toLowerCase()}(\n${options.map((line) => `    ${line}`).join('\n')}\n)\n${lastLine(call, 'py')}`
}

const LITERALS: Record<string, string> = { true: 'True', false: 'False', null: 'None' }

/** JSON as Python: the same but for three words outside of texts. */
const python = (value: unknown) =>
  JSON.stringify(value, null, 4).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (part) => LITERALS[part] ?? part)

/** Prints the reply. */
function lastLine({ operation }: Call, language: 'ts' | 'py'): string {
  const replies = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  const isJson = replies !== undefined && 'content' in replies && 'application/json' in (replies.content ?? {})
  if (language === 'ts') return isJson ? 'console.log(await reply.json())' : 'console.log(reply.status)'
  return isJson ? 'print(reply.json())' : 'print(reply.status_code)'
}
