/** How the command line is read: which command it names, what it refuses, and what its help says. */
import { describe, expect, test } from 'vitest'
import { readArguments, UsageError } from './command.ts'
import { findCommand } from './index.ts'
import { OPTIONS } from './options.ts'
import { replayOptions } from './replay.ts'
import { requestOf } from './request.ts'
import { seedOptions } from './seed/seed.ts'

const found = (line: string) => {
  const { command, args } = findCommand(line.split(' '))
  return [command.summary.split(/[.,(]/)[0]?.trim(), ...args]
}

test.each([
  ['start worker', 'Start the server', 'worker'],
  ['keys create --role support', 'Create an API key', '--role', 'support'],
  ['keys list --json', 'List the API keys of a project', '--json'],
  ['config check', 'Check the configuration and print every setting'],
  ['--version', 'Print the version'],
  ['backup --help', 'Print the commands', 'backup'],
  ['keys revoke -h', 'Print the commands', 'keys revoke'],
  ['keys --help', 'Print the commands', 'keys'],
  ['inbound -- --help', 'Read an email with a bounce or a complaint from standard input', '--', '--help'],
])('%s is %s', (line, summary, ...args) => expect(found(line)).toEqual([summary, ...args]))

test.each([
  ['strat', 'Unknown command: strat.'],
  ['toString', 'Unknown command: toString.'],
  ['keys', 'After keys, give one of create, list, revoke.'],
  ['keys delete', 'After keys, give one of create, list, revoke.'],
  ['strat --help', 'Unknown command: strat.'],
])('%s is refused', (line, message) => {
  const find = () => findCommand(line.split(' '))
  expect(find).toThrow(UsageError)
  expect(find).toThrow(message)
})

describe('arguments', () => {
  test.each([
    [() => readArguments(['--jsn'], OPTIONS.json), '--jsn'],
    [() => readArguments(['--json=yes'], OPTIONS.json), '--json'],
    [() => readArguments(['surplus'], OPTIONS.json), 'Unexpected argument: surplus.'],
    [() => readArguments(['a', 'b'], OPTIONS.json, 1), 'Unexpected argument: b.'],
    [() => seedOptions(['--users', '0']), '--users must be'],
    [() => seedOptions(['--seed', 'x']), '--seed must be'],
    [() => requestOf(['/api/client/users'], {}), 'Specify the method first'],
    [() => requestOf(['GET', 'users'], {}), 'Specify the path'],
    [() => requestOf(['POST', '/api/client/lists', '--data', '{'], {}), '--data must be'],
    [() => requestOf(['POST', '/api/client/lists', '--data', '7'], {}), '--data must be'],
    [() => replayOptions([]), 'Specify the id of a webhook endpoint'],
    [() => replayOptions(['7']), '--since is required'],
  ])('are refused: %#', (read, message) => {
    expect(read).toThrow(UsageError)
    expect(read).toThrow(message)
  })

  test.each([
    [['get', '/api/client/lists?limit=1'], { method: 'GET', path: '/api/client/lists?limit=1', key: 'sk_environment' }],
    [
      ['POST', '/api/client/lists', '--data', '{"name":"All"}', '--key', 'sk_given', '--url', 'http://localhost:1'],
      { method: 'POST', path: '/api/client/lists', body: { name: 'All' }, key: 'sk_given', url: 'http://localhost:1' },
    ],
  ])('%j are a request', (args, request) => expect(requestOf(args, { SECRET_KEY: 'sk_environment' })).toEqual(request))

  test('of a replay become the body of the request', () =>
    expect(
      replayOptions(['7', '--since', '2026-11-20T09:00:00Z', '--events', 'delivery.failed, delivery.sent', '--unaccepted-only']),
    ).toMatchObject({
      endpoint: '7',
      body: { since: '2026-11-20T09:00:00Z', event_types: ['delivery.failed', 'delivery.sent'], unaccepted_only: true },
    }))
})
