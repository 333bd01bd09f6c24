/**
 * Every setting of the server: one table, read once from the environment, checked as a whole, frozen.
 * `docs/reference/configuration.md` is printed from it. Nothing else reads the environment.
 */

type Setting<T> = {
  /** What it does, for the reference page. */
  description: string
  /** The value when the variable is absent or empty; `undefined` means "not set". */
  fallback: T
  /** Turns the text into a value, or says why it cannot, as the end of "NAME …". */
  parse: (text: string) => { value: T } | { problem: string }
  /** How the reference page shows the type. */
  type: string
  /** Never printed. */
  secret?: boolean
}

const setting =
  <T>(type: string, parse: Setting<T>['parse']) =>
  (fallback: T, description: string, secret = false): Setting<T> => ({ type, parse, fallback, description, secret })

const ok = <T>(value: T) => ({ value })
const text = setting<string | undefined>('text', ok)
const words = setting<string>('text', ok)
const flag = setting<boolean>('true or false', (raw) =>
  raw === 'true' || raw === '1' ? ok(true) : raw === 'false' || raw === '0' ? ok(false) : { problem: 'must be true or false' },
)
const list = setting<string[]>('comma-separated list', (raw) =>
  ok(
    raw
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  ),
)
const count = setting<number>('number', (raw) => (/^\d+(\.\d+)?$/.test(raw) ? ok(Number(raw)) : { problem: 'must be a number, 0 or more' }))
const numbers = setting<number[]>('comma-separated numbers', (raw) => {
  const parts = raw.split(',').map((part) => part.trim())
  return parts.every((part) => /^\d+$/.test(part)) ? ok(parts.map(Number)) : { problem: 'must be whole numbers with commas between them' }
})
const port = setting<number>('port', (raw) =>
  /^\d{1,5}$/.test(raw) && Number(raw) <= 65_535 ? ok(Number(raw)) : { problem: 'must be a port from 0 to 65535' },
)
const level = setting<string>('fatal, error, warn, info, debug, trace or silent', (raw) =>
  /^(fatal|error|warn|info|debug|trace|silent)$/.test(raw)
    ? ok(raw)
    : { problem: 'must be fatal, error, warn, info, debug, trace or silent' },
)
const bytes = setting<number>('size', (raw) => {
  const [, amount, unit = 'B'] = /^(\d+)(B|KiB|MiB|GiB)?$/.exec(raw) ?? []
  if (amount === undefined) return { problem: 'must be a size such as 262144, 256KiB or 1MiB' }
  return ok(Number(amount) * 1024 ** ['B', 'KiB', 'MiB', 'GiB'].indexOf(unit))
})
const url = setting<string | undefined>('URL', (raw) =>
  URL.canParse(raw) ? ok(raw.replace(/\/+$/, '')) : { problem: 'must be a URL such as https://carillon.example.com' },
)
const credential = (prefix: string) =>
  setting<string | undefined>(`key that starts with ${prefix}`, (raw) =>
    new RegExp(`^${prefix}[A-Za-z0-9_-]{16,250}$`).test(raw)
      ? ok(raw)
      : { problem: `must be ${prefix} and 16 to 250 letters, digits, _ or -` },
  )

/** The table. Order is the order of the reference page. */
export const settings = {
  NODE_ENV: words('development', '`production` asks for secrets and closes loopback egress; anything else is the development profile.'),
  PORT: port(3000, 'Port of the API. 0 picks a free one.'),
  HOST: words('127.0.0.1', 'Address to listen on. `0.0.0.0` opens it to the network.'),
  DATABASE_URL: text(
    undefined,
    'PostgreSQL 15 or newer, as postgres://user:password@host/database. Absent: an embedded PostgreSQL under DATA_DIR.',
    true,
  ),
  DATA_DIR: words('.carillon', 'Where the embedded PostgreSQL, the development secrets and credentials.json live.'),
  LOG_LEVEL: level('info', 'How much is logged.'),
  BASE_URL: url(undefined, 'Public address of the API, used in links and tokens. Absent: http://HOST:PORT.'),
  APP_URL: url(undefined, 'Public address of the app host of the utility endpoints. Absent: BASE_URL.'),
  BOOTSTRAP_ORG_KEY: credential('ok_')(undefined, 'Organisation key to have from the first boot on.', true),
  BOOTSTRAP_SECRET_KEY: credential('sk_')(undefined, 'Secret project key to have from the first boot on.', true),
  BOOTSTRAP_PUBLIC_KEY: credential('pk_')(undefined, 'Publishable project key to have from the first boot on.', true),
  SECRETS_KEY: list(
    [],
    'Keys that seal stored secrets (AES-256-GCM): `id:base64` of 32 bytes each, newest first. Required in production.',
    true,
  ),
  SESSION_JWT_KEYS: list(
    [],
    'Keys that sign user tokens (HS256): `kid:secret` with 32 or more characters each, newest first. Required in production.',
    true,
  ),
  REQUIRE_API_VERSION: flag(false, 'Refuse requests without a Service-Version header.'),
  JSON_BODY_LIMIT: bytes(1_048_576, 'Largest JSON body, after decompression.'),
  FORM_BODY_LIMIT: bytes(262_144, 'Largest form body, after decompression.'),
  IMPORT_BYTES_MAX: bytes(2_147_483_648, 'Largest file of an import, after decompression.'),
  LIST_ALL_MAX: count(10_000, 'Most rows that `limit=-1` may return.'),
  RATE_READ: count(1000, 'Reads per second and credential. 0 switches the limit off.'),
  RATE_WRITE: count(1000, 'Writes per second and credential. 0 switches the limit off.'),
  RATE_ALL_PER_MIN: count(30, 'Requests with `limit=-1` per minute and credential. 0 switches the limit off.'),
  RATE_EXT: count(50, 'Utility calls per second and credential. 0 switches the limit off.'),
  RATE_EGRESS_PER_MIN: count(60, 'SPF look-ups and TCP checks per minute and credential. 0 switches the limit off.'),
  RATE_USER: count(10, 'Calls per second and end user with a publishable key. 0 switches the limit off.'),
  RATE_PAGE: count(
    1000,
    'Calls per second and client address of what asks for no key: preference pages, callbacks, mails in the browser. Tracked links are not limited. 0 switches the limit off.',
  ),
  RATE_AUTH_FAIL_PER_MIN: count(600, 'Failed authentications per minute and client address. 0 switches the limit off.'),
  QUOTA_EXT_CALLS_MONTH: count(0, 'Utility calls per project and calendar month. 0 is unlimited.'),
  IDEMPOTENCY_TTL_H: count(24, 'Hours an Idempotency-Key is remembered.'),
  IDEMPOTENCY_WAIT_MS: count(5000, 'How long a repeat waits for the original that is still running.'),
  USER_TOKEN_TTL_S: count(900, 'Lifetime of a user token in seconds.'),
  EVENT_TRIGGER_MAX_AGE_H: count(72, 'Older events are stored but trigger nothing.'),
  EVENT_RETENTION_MONTHS: count(
    0,
    'Events are removed by whole calendar months once they are this many months old. 0 keeps them for ever.',
  ),
  BACKLOG_ITEMS_MAX: count(
    5_000_000,
    'Accepted events and users that may wait to be processed; then senders are told to come back. 0 is unlimited.',
  ),
  BACKLOG_BYTES_MAX: bytes(2_147_483_648, 'The same in bytes of their requests. 0 is unlimited.'),
  MESSAGE_LEASE_S: count(
    60,
    'Seconds after which messages are taken back from a sender that went away. One that is at work renews its hold.',
  ),
  WEBHOOK_RETRY_SCHEDULE: numbers([5, 300, 1800, 7200, 18_000, 36_000, 36_000], 'Seconds between the attempts of a webhook delivery.'),
  WEBHOOK_TIMEOUT_MS: count(15_000, 'Longest a webhook endpoint may take to answer.'),
  WEBHOOK_DISABLE_AFTER_FAILURES: count(20, 'Consecutive failures after which an endpoint may be disabled …'),
  WEBHOOK_DISABLE_AFTER_HOURS: count(120, '… when the first of them is at least this many hours old.'),
  EGRESS_ALLOW_CIDRS: list([], 'Private ranges that outgoing requests may reach. The development profile adds loopback.'),
  TRUST_PROXY: list([], 'Proxies (addresses or CIDRs) whose X-Forwarded-For is believed.'),
  METRICS_TOKEN: text(undefined, 'Bearer token that /metrics asks for. Absent: open in development, closed in production.', true),
} satisfies Record<string, Setting<unknown>>

export type Config = { readonly [K in keyof typeof settings]: (typeof settings)[K]['fallback'] } & { readonly production: boolean }

/** What the development profile opens, so that local receivers can be reached (D-TCP-3). */
const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** All problems of the environment at once, each on its own line. */
export class ConfigError extends Error {}

/** Reads and checks the environment. Throws one `ConfigError` that names every problem. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const values = Object.entries(settings).map(([name, setting]) => {
    const raw = env[name]?.trim()
    if (!raw) return [name, setting.fallback]
    const parsed = (setting as Setting<unknown>).parse(raw)
    if ('value' in parsed) return [name, parsed.value]
    problems.push(`${name} ${parsed.problem}.`)
    return [name, setting.fallback]
  })
  const given = { ...Object.fromEntries(values), production: env.NODE_ENV === 'production' } as Config
  const config = given.production ? given : { ...given, EGRESS_ALLOW_CIDRS: [...LOOPBACK, ...given.EGRESS_ALLOW_CIDRS] }
  if (config.production) problems.push(...missingInProduction(config))
  problems.push(...badKeys(config))
  if (problems.length > 0)
    throw new ConfigError(`The configuration has ${problems.length} problem(s):\n${problems.map((line) => `- ${line}`).join('\n')}`)
  return Object.freeze(config)
}

function missingInProduction(config: Config): string[] {
  return (['SECRETS_KEY', 'SESSION_JWT_KEYS'] as const)
    .filter((name) => config[name].length === 0)
    .map((name) => `${name} is required in production. ${settings[name].description}`)
}

function badKeys(config: Config): string[] {
  const sealing = config.SECRETS_KEY.filter((entry) => !isSealingKey(entry)).map(
    () => 'SECRETS_KEY must hold entries `id:base64`, each with 32 bytes (openssl rand -base64 32).',
  )
  const signing = config.SESSION_JWT_KEYS.filter((entry) => !/^[\w-]{1,32}:.{32,}$/.test(entry)).map(
    () => 'SESSION_JWT_KEYS must hold entries `kid:secret`, each secret with 32 or more characters.',
  )
  return [...new Set([...sealing, ...signing])]
}

const isSealingKey = (entry: string) => {
  const [, key] = /^[\w-]{1,32}:([A-Za-z0-9+/]+={0,2})$/.exec(entry) ?? []
  return key !== undefined && Buffer.from(key, 'base64').length === 32
}
