/** URLs of PostgreSQL. One may name several hosts: `postgres://user:password@one:5432,two:5433/name?target_session_attrs=read-write`. */

export type DatabaseHosts = {
  /** A URL for each host, in their order. */
  urls: string[]
  /** Only a server that accepts writes will do. */
  needsPrimary: boolean
}

const TARGET = 'target_session_attrs'
/** Of what libpq knows, these make sense for a server that writes, and for one that is only read. */
const TARGETS: Record<string, boolean> = { 'read-write': true, primary: true, any: false }

/**
 * The hosts of a URL. Null if it is malformed. If there are several hosts, one that accepts writes is wanted, unless the URL says `any`.
 */
export function databaseHosts(url: string): DatabaseHosts | null {
  const from = url.indexOf('://') + 3
  const length = url.slice(from).search(/[/?#]/)
  const to = length < 0 ? url.length : from + length
  const hostsFrom = from + url.slice(from, to).lastIndexOf('@') + 1
  const urls: URL[] = []
  for (const host of url.slice(hostsFrom, to).split(',')) {
    const one = URL.parse(`${url.slice(0, hostsFrom)}${host}${url.slice(to)}`)
    if (!one || !isDatabaseUrl(one)) return null
    urls.push(one)
  }
  const target = urls[0]?.searchParams.get(TARGET) ?? (urls.length > 1 ? 'read-write' : 'any')
  const needsPrimary = TARGETS[target]
  if (needsPrimary === undefined) return null
  return { urls: urls.map(withoutTarget), needsPrimary }
}

function isDatabaseUrl({ protocol, username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(`${username}${password}${pathname}`)
    return protocol === 'postgres:' || protocol === 'postgresql:'
  } catch {
    return false
  }
}

function withoutTarget(url: URL): string {
  if (url.searchParams.has(TARGET)) url.searchParams.delete(TARGET)
  return url.href
}
