import { mkdtempSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { overriddenFiles } from './given-settings.ts'
import { settings } from './settings.ts'

const problemsOf = (env: Record<string, string>) => {
  try {
    readConfig(env)
    return ''
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message
  }
}

describe('the configuration', () => {
  test('an empty environment is the development profile on port 3000 of the loopback address', () => {
    expect(readConfig({})).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', DATA_DIR: '.carillon', LOG_LEVEL: 'info', production: false })
  })

  test('all problems are reported at once', () => {
    const message = problemsOf({
      PORT: 'http',
      RATE_READ: '-1',
      WEBHOOK_RETRY_SCHEDULE: '5,soon',
      REQUIRE_API_VERSION: 'yes',
      BOOTSTRAP_SECRET_KEY: 'pk_1',
    })
    for (const name of ['PORT', 'RATE_READ', 'WEBHOOK_RETRY_SCHEDULE', 'REQUIRE_API_VERSION', 'BOOTSTRAP_SECRET_KEY'])
      expect(message).toContain(`- ${name} `)
  })

  test('production without secrets is refused, with the missing settings', () => {
    const message = problemsOf({ NODE_ENV: 'production' })
    expect(message).toContain('SECRETS_KEY is required in production')
    expect(message).toContain('SESSION_JWT_KEYS is required in production')
  })

  test('ages are whole, and no older than the database can tell; a message is kept for as long as caps count it', () => {
    for (const [name, most] of [
      ['JOURNEY_HISTORY_DAYS', 99_999],
      ['AUDIT_RETENTION_DAYS', 99_999],
      ['EVENT_RETENTION_MONTHS', 9999],
    ] as const) {
      for (const value of [0, 1, most]) expect(readConfig({ [name]: String(value) })[name]).toBe(value)
      for (const wrong of ['0.5', String(most + 1)]) expect(problemsOf({ [name]: wrong })).toContain(`- ${name} must be a whole number`)
    }
    for (const value of [0, 91]) expect(readConfig({ MESSAGE_RETENTION_DAYS: String(value) }).MESSAGE_RETENTION_DAYS).toBe(value)
    expect(problemsOf({ MESSAGE_RETENTION_DAYS: '90' })).toContain('- MESSAGE_RETENTION_DAYS must be 0, or a whole number from 91')
  })

  test('a lease on messages lasts for two seconds or more', () => {
    expect(readConfig({ MESSAGE_LEASE_S: '2' }).MESSAGE_LEASE_S).toBe(2)
    for (const wrong of ['0', '1.9', 'x'])
      expect(problemsOf({ MESSAGE_LEASE_S: wrong })).toContain('- MESSAGE_LEASE_S must be a number, 2 or more')
  })

  test('limits of sites are JSON', () => {
    const limits = { google: { connections: 2, mails_per_second: 0.5 }, '*': { connections_per_minute: 30 } }
    expect(readConfig({ MTA_LIMITS: JSON.stringify(limits) }).MTA_LIMITS).toEqual(limits)
    expect(readConfig({}).MTA_LIMITS).toEqual({})
    for (const wrong of [
      'x',
      '[]',
      '{"google": 2}',
      '{"google": {"speed": 2}}',
      '{"google": {"connections": 0}}',
      '{"google": {"connections": 1.5}}',
    ])
      expect(problemsOf({ MTA_LIMITS: wrong })).toContain('- MTA_LIMITS must be a JSON object')
  })

  test('name servers are addresses, with a port if it is another one', () => {
    expect(readConfig({ DNS_SERVERS: '192.0.2.1, [2001:db8::1]:5353' }).DNS_SERVERS).toEqual(['192.0.2.1', '[2001:db8::1]:5353'])
    expect(problemsOf({ DNS_SERVERS: '192.0.2.1,ns.example.com' })).toContain('- DNS_SERVERS must be a comma-separated list of addresses')
  })

  test('URLs are of the web, complete, and without a query or a fragment, because paths are added to them', () => {
    expect(readConfig({ BASE_URL: 'https://carillon.example.com:8443/messages/' }).BASE_URL).toBe(
      'https://carillon.example.com:8443/messages',
    )
    const wrong = [
      'carillon.example.com:443',
      'https:carillon.example.com',
      'https:///carillon',
      'ftp://carillon.example.com',
      'https://a.test?b',
      'https://a.test/#',
    ]
    for (const url of wrong)
      expect(problemsOf({ BASE_URL: url }), url).toContain('- BASE_URL must be a URL such as https://carillon.example.com')
  })

  test('addresses that are trusted or allowed are addresses and ranges', () => {
    const proxies = ['192.0.2.1', '10.0.0.0/8', '2001:db8::1', 'fd00::/8', 'loopback']
    expect(readConfig({ TRUST_PROXY: proxies.join(', ') }).TRUST_PROXY).toEqual(proxies)
    for (const wrong of ['true', 'proxy.example.com', '10.0.0.0/33', '10.0.0.0/0', '10.0.0/8', '192.0.2.1:80'])
      expect(problemsOf({ TRUST_PROXY: `192.0.2.1,${wrong}` }), wrong).toContain(
        '- TRUST_PROXY must be a comma-separated list of addresses',
      )
    for (const wrong of ['10.0.0.1', '10/8', 'localhost', '10.0.0.0/33'])
      expect(problemsOf({ EGRESS_ALLOW_CIDRS: wrong }), wrong).toContain(
        '- EGRESS_ALLOW_CIDRS must be a comma-separated list of address ranges',
      )
  })

  test('a problem never contains the secret', () => {
    expect(problemsOf({ SECRETS_KEY: 'main:c2hvcnQ=', SESSION_JWT_KEYS: 'a:tooshort' })).not.toMatch(/c2hvcnQ|tooshort/)
  })

  test.each(['SECRETS_KEY', 'SESSION_JWT_KEYS'])('keys of %s with the same id are refused: the newer one would not be used', (name) => {
    const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
    expect(problemsOf({ [name]: [key('a', 2), key('b', 3), key('a', 1)].join() })).toBe(
      `The configuration has 1 problem(s):\n- ${name} has two keys with the id \`a\`. Give the new key another id.`,
    )
    expect(problemsOf({ [name]: [key('b', 2), key('a', 1)].join() })).toBe('')
  })

  test('loopback is allowed in development and not in production', () => {
    const secrets = { SECRETS_KEY: `a:${Buffer.alloc(32).toString('base64')}`, SESSION_JWT_KEYS: `a:${'x'.repeat(32)}` }
    expect(readConfig({}).EGRESS_ALLOW_CIDRS).toEqual(['127.0.0.0/8', '::1/128'])
    expect(readConfig({ ...secrets, NODE_ENV: 'production' }).EGRESS_ALLOW_CIDRS).toEqual([])
    expect(readConfig({ ...secrets, NODE_ENV: 'production', EGRESS_ALLOW_CIDRS: '10.0.0.0/8' }).EGRESS_ALLOW_CIDRS).toEqual(['10.0.0.0/8'])
  })

  test.each([
    ['JOB_POLL_S', '0'],
    ['JOB_POLL_S', '2592000'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=100%'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key'],
    ['MTA_SOURCE_ADDRESSES', '192.0.2.1,mail.example.com'],
    ['MTA_SOURCE_ADDRESSES', '192.0.2.0/24'],
    ['MTA_ADDRESSES', 'mail.example.com'],
    ['MTA_ADDRESSES', '2001:db8::1,[2001:db8::2]'],
    ['PASSWORD_HASH_KIB', '0'],
    ['PASSWORD_HASH_KIB', '7'],
    ['PASSWORD_HASH_KIB', '4294967296'],
  ])('%s=%s is refused', (name, text) => expect(problemsOf({ [name]: text })).toContain(`- ${name} must be`))

  test('addresses of email are of either family', () => {
    const given = { MTA_SOURCE_ADDRESSES: '192.0.2.1, 2001:db8::1', MTA_ADDRESSES: '192.0.2.2' }
    expect(readConfig(given)).toMatchObject({ MTA_SOURCE_ADDRESSES: ['192.0.2.1', '2001:db8::1'], MTA_ADDRESSES: ['192.0.2.2'] })
  })

  test('a password may be hashed with as little memory as Argon2 takes', () => {
    expect(readConfig({ PASSWORD_HASH_KIB: '8' }).PASSWORD_HASH_KIB).toBe(8)
  })

  test.each([
    ['262144', 262_144],
    ['256KiB', 262_144],
    ['2MiB', 2_097_152],
    ['3GiB', 3_221_225_472],
  ])('%s is a valid size', (text, bytes) => expect(readConfig({ JSON_BODY_LIMIT: text }).JSON_BODY_LIMIT).toBe(bytes))
})

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-config-'))
  const file = async (name: string, content: string) => {
    await writeFile(join(folder, name), content)
    return join(folder, name)
  }

  test.each([
    ['a-token', 'a-token'],
    ['a-token\n', 'a-token'],
    ['a-token\r\n', 'a-token'],
    ['a-token\n\n', 'a-token\n'],
    [' a-token ', ' a-token '],
  ])('%j is the value %j: it loses its last line break', async (content, value) => {
    expect(readConfig({ METRICS_TOKEN_FILE: await file('token', content), METRICS_TOKEN: '' }).METRICS_TOKEN).toBe(value)
  })

  test('every secret can be in one, and nothing else', async () => {
    const content = await file('any', '')
    const names = Object.keys(settings)
    const env = Object.fromEntries(names.map((name) => [`${name}_FILE`, content]))
    const secrets = names.filter((name) => (settings[name as keyof typeof settings] as { secret?: boolean }).secret)
    expect(secrets).toEqual(expect.arrayContaining(['DATABASE_URL', 'SECRETS_KEY', 'SESSION_JWT_KEYS', 'SYSTEM_SMTP_URL', 'METRICS_TOKEN']))
    const [named] = problemsOf(env).split('\nThe environment also has:')
    expect([...(named ?? '').matchAll(/^- (\w+)_FILE cannot be used/gm)].map(([, name]) => name)).toEqual(secrets)
  })

  test('gives way to the environment, and is reported if it has another value', async () => {
    const key = (id: string) => `${id}:${Buffer.alloc(32).toString('base64')}`
    const SECRETS_KEY_FILE = await file('former', `${key('a')}\n`)
    expect(readConfig({ SECRETS_KEY_FILE, SECRETS_KEY: key('b') }).SECRETS_KEY).toEqual([key('b')])
    expect(overriddenFiles({ SECRETS_KEY_FILE, SECRETS_KEY: key('b') }, settings)).toEqual(['SECRETS_KEY'])
    // As for a command with `node --env-file=…` where compose gives the files too.
    expect(readConfig({ SECRETS_KEY_FILE, SECRETS_KEY: key('a') }).SECRETS_KEY).toEqual([key('a')])
    for (const SECRETS_KEY of [key('a'), '']) expect(overriddenFiles({ SECRETS_KEY_FILE, SECRETS_KEY }, settings)).toEqual([])
    const missing = join(folder, 'none')
    expect(overriddenFiles({ SECRETS_KEY_FILE: missing, SECRETS_KEY: key('b') }, settings)).toEqual(['SECRETS_KEY'])
  })

  test('that cannot be used is a problem that says why', async () => {
    const key = `a:${Buffer.alloc(32).toString('base64')}`
    const path = await file('key', key)
    const missing = join(folder, 'none')
    const refused = problemsOf({ NODE_ENV: 'production', SECRETS_KEY_FILE: missing, SESSION_JWT_KEYS: `a:${'x'.repeat(32)}` })
    expect(refused).toBe(`The configuration has 1 problem(s):\n- SECRETS_KEY_FILE cannot be used: there is no file ${missing}.`)
    await mkdir(join(folder, 'directory'))
    expect(problemsOf({ SECRETS_KEY_FILE: join(folder, 'directory') })).toContain(`: ${folder}/directory is a directory.`)
    expect(problemsOf({ SECRETS_KEY_FILE: await file('empty', ' \n') })).toContain(`: ${folder}/empty is empty.`)
    await chmod(path, 0)
    if (process.getuid?.() !== 0)
      expect(problemsOf({ SECRETS_KEY_FILE: path })).toContain(`: this process is not permitted to read ${path}.`)
  })

  test('that is not valid is a problem with the file, and without the secret', async () => {
    const path = await file('url', 'mysql://carillon:hush@db/carillon\n')
    const message = problemsOf({ DATABASE_URL_FILE: path })
    expect(message).toContain(`- DATABASE_URL in ${path} must be a URL such as postgres://`)
    expect(message).not.toContain('hush')
  })
})
