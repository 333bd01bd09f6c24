/** How settings are read from the text of a variable, by type. */

import { databaseHosts } from '../../lib/database-url.ts'
import { isAddress, isAddressRange } from '../../lib/egress.ts'
import { isEmail } from '../../lib/email.ts'
import { parseNameServer } from '../../lib/name-servers.ts'
import { natsServers } from '../../lib/nats-url.ts'
import { ORGANISATION_ROLES, type OrganisationRole, ROLES, type Role } from '../../lib/roles.ts'
import { trimEndMatching } from '../../lib/text.ts'

/** A setting with its fallback. */
export type Setting<T> = {
  /** For the reference page. */
  description: string
  /** The value if the variable is absent or empty; `undefined` means "not set". */
  fallback: T
  /** Returns the value, or the problem as the end of the sentence "NAME …". */
  parse: (text: string) => { value: T } | { problem: string }
  /** The type on the reference page. */
  type: string
  /** The value is never printed. */
  secret?: boolean
}

/** A value as it is written in the environment; empty for one that is not set. */
export function writtenValue(value: unknown): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const setting =
  <T>(type: string, parse: Setting<T>['parse']) =>
  (fallback: T, description: string, secret = false): Setting<T> => ({ type, parse, fallback, description, secret })

const ok = <T>(value: T) => ({ value })
export const text = setting<string | undefined>('text', ok)
export const words = setting<string>('text', ok)
export const flag = setting<boolean>('true or false', (raw) =>
  raw === 'true' || raw === '1' ? ok(true) : raw === 'false' || raw === '0' ? ok(false) : { problem: 'must be true or false' },
)
const partsOf = (raw: string): string[] =>
  raw
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
export const list = setting<string[]>('comma-separated list', (raw) => ok(partsOf(raw)))
/** A header with its value percent-encoded, as the specification of OpenTelemetry has them. */
function isHeader(part: string): boolean {
  try {
    return part.indexOf('=') > 0 && decodeURIComponent(part) !== ''
  } catch {
    return false
  }
}
export const headers = setting<string[]>('comma-separated list', (raw) => {
  const parts = partsOf(raw)
  return parts.every(isHeader) ? ok(parts) : { problem: 'must be a comma-separated list of `name=value`, with `%25` for a percent sign' }
})
export const addresses = setting<string[]>('comma-separated list of addresses', (raw) => {
  const parts = partsOf(raw)
  return parts.every(isAddress) ? ok(parts) : { problem: 'must be a comma-separated list of IP addresses such as 192.0.2.1 or 2001:db8::1' }
})
export const addressRanges = setting<string[]>('comma-separated list of address ranges', (raw) => {
  const parts = partsOf(raw)
  return parts.every(isAddressRange)
    ? ok(parts)
    : { problem: 'must be a comma-separated list of address ranges such as 10.0.0.0/8 or fd00::/8' }
})

/** Ranges that Fastify knows by name. */
const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal']
const isProxy = (part: string) => NAMED_RANGES.includes(part) || isAddress(part) || (isAddressRange(part) && Number(part.split('/')[1]) > 0)
export const proxies = setting<string[]>('comma-separated list of addresses', (raw) => {
  const parts = partsOf(raw)
  return parts.every(isProxy)
    ? ok(parts)
    : { problem: 'must be a comma-separated list of addresses such as 192.0.2.1, 10.0.0.0/8 or loopback' }
})
export const count = setting<number>('number', (raw) =>
  /^\d+(\.\d+)?$/.test(raw) ? ok(Number(raw)) : { problem: 'must be a number, 0 or more' },
)
export const wholeCount = setting<number>('whole number', (raw) =>
  /^\d{1,15}$/.test(raw) ? ok(Number(raw)) : { problem: 'must be a whole number, 0 or more' },
)

/** Waits of jobs. A timer of more than 24 days ends at once, and one of less than a second asks the database all the time. */
const POLL_S = { min: 1, max: 86_400 }
export const pollSeconds = setting<number>('number', (raw) =>
  /^\d+(\.\d+)?$/.test(raw) && Number(raw) >= POLL_S.min && Number(raw) <= POLL_S.max
    ? ok(Number(raw))
    : { problem: `must be a number from ${POLL_S.min} to ${POLL_S.max}` },
)

/** Leases are renewed after a third of their time, and a pause of the process should not end them. */
const LEASE_MIN_S = 2
export const leaseSeconds = setting<number>('number', (raw) =>
  /^\d+(\.\d+)?$/.test(raw) && Number(raw) >= LEASE_MIN_S ? ok(Number(raw)) : { problem: `must be a number, ${LEASE_MIN_S} or more` },
)

/** The memory of Argon2 with one lane (RFC 9106): at least 8 KiB, and a number of 32 bits. */
const HASH_KIB = { min: 8, max: 2 ** 32 - 1 }
export const hashMemory = setting<number>('whole number', (raw) =>
  /^\d{1,10}$/.test(raw) && Number(raw) >= HASH_KIB.min && Number(raw) <= HASH_KIB.max
    ? ok(Number(raw))
    : { problem: `must be a whole number from ${HASH_KIB.min} to ${HASH_KIB.max}` },
)

/** Ages at which something is deleted; 0 keeps it. An instant with a year of other than four digits is not compared correctly. */
export const daysKept = setting<number>('whole number', (raw) =>
  /^\d{1,5}$/.test(raw) ? ok(Number(raw)) : { problem: 'must be a whole number from 0 to 99999' },
)
export const monthsKept = setting<number>('whole number', (raw) =>
  /^\d{1,4}$/.test(raw) ? ok(Number(raw)) : { problem: 'must be a whole number from 0 to 9999' },
)

/** Caps count messages of up to 90 days, and an event is known by its id for 30. */
const MESSAGE_DAYS_MIN = 91
export const messageDaysKept = setting<number>('whole number', (raw) =>
  /^\d{1,5}$/.test(raw) && (Number(raw) === 0 || Number(raw) >= MESSAGE_DAYS_MIN)
    ? ok(Number(raw))
    : { problem: `must be 0, or a whole number from ${MESSAGE_DAYS_MIN} to 99999` },
)
export const numbers = setting<number[]>('comma-separated numbers', (raw) => {
  const parts = raw.split(',').map((part) => part.trim())
  return parts.every((part) => /^\d+$/.test(part)) ? ok(parts.map(Number)) : { problem: 'must be a comma-separated list of whole numbers' }
})
export const port = setting<number>('port', (raw) =>
  /^\d{1,5}$/.test(raw) && Number(raw) <= 65_535 ? ok(Number(raw)) : { problem: 'must be a port from 0 to 65535' },
)
export const nameServers = setting<string[]>('comma-separated list of addresses', (raw) => {
  const parts = partsOf(raw)
  return parts.every((part) => parseNameServer(part) !== null)
    ? ok(parts)
    : { problem: 'must be a comma-separated list of addresses such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53' }
})
export const optionalPort = setting<number | undefined>('port', (raw) =>
  /^\d{1,5}$/.test(raw) && Number(raw) <= 65_535 ? ok(Number(raw)) : { problem: 'must be a port from 0 to 65535' },
)
export const level = setting<string>('fatal, error, warn, info, debug, trace or silent', (raw) =>
  /^(fatal|error|warn|info|debug|trace|silent)$/.test(raw)
    ? ok(raw)
    : { problem: 'must be fatal, error, warn, info, debug, trace or silent' },
)
export const bytes = setting<number>('size', (raw) => {
  const [, amount, unit = 'B'] = /^(\d+)(B|KiB|MiB|GiB)?$/.exec(raw) ?? []
  if (amount === undefined) return { problem: 'must be a size such as 262144, 256KiB or 1MiB' }
  return ok(Number(amount) * 1024 ** ['B', 'KiB', 'MiB', 'GiB'].indexOf(unit))
})
/** Paths are added to the text. `URL` also reads `carillon.example.com:443`, with `carillon.example.com:` as the protocol. */
const WEB_URL = /^https?:\/\/[^\s/?#\\][^\s?#\\]*$/
export const url = setting<string | undefined>('URL', (raw) =>
  WEB_URL.test(raw) && URL.canParse(raw)
    ? ok(trimEndMatching(raw, /^\/$/))
    : { problem: 'must be a URL such as https://carillon.example.com, with http: or https: and without ? and #' },
)
export const databaseUrl = setting<string | undefined>('URL of PostgreSQL', (raw) =>
  databaseHosts(raw)
    ? ok(raw)
    : { problem: 'must be a URL such as postgres://user:password@host/database, with special characters percent-encoded' },
)

export const natsUrl = setting<string | undefined>('URL of NATS', (raw) =>
  natsServers(raw) ? ok(raw) : { problem: 'must be a URL such as nats://user:password@host:4222, with special characters percent-encoded' },
)

export const smtpUrl = setting<string | undefined>('URL of an SMTP relay', (raw) =>
  URL.canParse(raw) && /^smtps?:$/.test(new URL(raw).protocol) && new URL(raw).hostname !== '' && isDecodable(raw)
    ? ok(raw)
    : { problem: 'must be a URL such as smtp://user:password@host:587, with special characters percent-encoded' },
)

export const emailAddress = setting<string | undefined>('email address', (raw) =>
  isEmail(raw) ? ok(raw) : { problem: 'must be an email address such as carillon@example.com' },
)

function isDecodable(url: string): boolean {
  try {
    const { username, password } = new URL(url)
    return decodeURIComponent(`${username}${password}`) !== undefined
  } catch {
    return false
  }
}

export const credential = (prefix: string) =>
  setting<string | undefined>(`key that starts with ${prefix}`, (raw) =>
    new RegExp(`^${prefix}[A-Za-z0-9_-]{16,250}$`).test(raw)
      ? ok(raw)
      : { problem: `must be ${prefix} and 16 to 250 letters, digits, _ or -` },
  )

const LIMITS = ['connections', 'mails_per_connection', 'connections_per_minute', 'mails_per_second']
const WHOLE_LIMITS = ['connections', 'mails_per_connection']

/** Limits by the key of a site. */
export const siteLimits = setting<Record<string, Record<string, number>>>('JSON', (raw) =>
  isSiteLimits(raw)
    ? ok(JSON.parse(raw))
    : {
        problem: `must be a JSON object of sites with numbers above 0, such as {"google": {"connections": 2}}; the limits are ${LIMITS.join(', ')}`,
      },
)

function isSiteLimits(raw: string): boolean {
  try {
    const sites: unknown = JSON.parse(raw)
    const isLimit = ([name, value]: [string, unknown]) =>
      LIMITS.includes(name) && typeof value === 'number' && value > 0 && (Number.isInteger(value) || !WHOLE_LIMITS.includes(name))
    return isObject(sites) && Object.values(sites).every((limits) => isObject(limits) && Object.entries(limits).every(isLimit))
  } catch {
    return false
  }
}

/** What groups of an OpenID provider give: a role in the organisation, and roles in projects by their id. */
export const groupRoles = setting<Record<string, { role?: OrganisationRole; projects?: Record<string, Role> }>>('JSON', (raw) =>
  isGroupRoles(raw)
    ? ok(JSON.parse(raw))
    : {
        problem: `must be a JSON object of groups, such as {"staff": {"role": "admin"}, "marketing": {"projects": {"1": "editor"}}}; roles are ${ORGANISATION_ROLES.join(', ')}, and in projects ${ROLES.join(', ')}`,
      },
)

function isGroupRoles(raw: string): boolean {
  try {
    const groups: unknown = JSON.parse(raw)
    const isGroup = (given: unknown) =>
      isObject(given) &&
      Object.keys(given).every((name) => name === 'role' || name === 'projects') &&
      (given.role === undefined || ORGANISATION_ROLES.includes(given.role as OrganisationRole)) &&
      (given.projects === undefined || (isObject(given.projects) && Object.entries(given.projects).every(isProjectRole)))
    return isObject(groups) && Object.values(groups).every(isGroup)
  } catch {
    return false
  }
}

const isProjectRole = ([id, role]: [string, unknown]) => /^[1-9]\d*$/.test(id) && ROLES.includes(role as Role)

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
