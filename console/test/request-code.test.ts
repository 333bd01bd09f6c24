/** Requests as code: what is copied is accepted by the command line and says what the console would send. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { requestOf } from '../../server/src/cli/request.ts'
import { type ShownRequest, samplesOf } from '../src/parts/request-code.ts'

/** The arguments as a shell reads them. */
const argumentsOf = (text: string): string[] =>
  spawnSync('sh', ['-c', `carillon() { printf '%s\\0' "$@"; }; ${text}`], { encoding: 'utf8' })
    .stdout.split('\0')
    .slice(0, -1)

test.each<[ShownRequest, object]>([
  [
    { method: 'GET', path: '/api/client/users', query: { q: "O'Neil & co", limit: 5, cursor: undefined } },
    { method: 'GET', path: '/api/client/users?q=O%27Neil+%26+co&limit=5' },
  ],
  [
    { method: 'PATCH', path: '/api/client/users/{userId}', params: { userId: 'a b' }, body: { name: "It's $5" } },
    { method: 'PATCH', path: '/api/client/users/a%20b', body: { name: "It's $5" } },
  ],
])('%j is a command that sends it', (shown, request) => {
  const command = samplesOf(shown, 'https://example.com').find(({ language }) => language === 'CLI')?.text ?? ''
  const [name, ...args] = argumentsOf(command)
  expect(name).toBe('request')
  expect(requestOf(args, {})).toEqual({ ...request, url: 'https://example.com', key: undefined })
})
