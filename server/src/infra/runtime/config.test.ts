import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

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

  test('a problem never contains the secret', () => {
    expect(problemsOf({ SECRETS_KEY: 'main:c2hvcnQ=', SESSION_JWT_KEYS: 'a:tooshort' })).not.toMatch(/c2hvcnQ|tooshort/)
  })

  test('loopback is allowed in development and not in production', () => {
    const secrets = { SECRETS_KEY: `a:${Buffer.alloc(32).toString('base64')}`, SESSION_JWT_KEYS: `a:${'x'.repeat(32)}` }
    expect(readConfig({}).EGRESS_ALLOW_CIDRS).toEqual(['127.0.0.0/8', '::1/128'])
    expect(readConfig({ ...secrets, NODE_ENV: 'production' }).EGRESS_ALLOW_CIDRS).toEqual([])
    expect(readConfig({ ...secrets, NODE_ENV: 'production', EGRESS_ALLOW_CIDRS: '10.0.0.0/8' }).EGRESS_ALLOW_CIDRS).toEqual(['10.0.0.0/8'])
  })

  test.each([
    ['262144', 262_144],
    ['256KiB', 262_144],
    ['2MiB', 2_097_152],
    ['3GiB', 3_221_225_472],
  ])('%s is a valid size', (text, bytes) => expect(readConfig({ JSON_BODY_LIMIT: text }).JSON_BODY_LIMIT).toBe(bytes))
})
