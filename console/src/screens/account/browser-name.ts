const BROWSERS = ['Edg', 'Firefox', 'Chrome', 'Safari']
const NAMES: Record<string, string> = { Edg: 'Edge' }
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Macintosh', 'Linux']

/** “Firefox, Linux” of a user agent; the user agent itself if it is another program. */
export function browserName(userAgent: string): string {
  const browser = BROWSERS.find((name) => userAgent.includes(`${name}/`))
  const system = SYSTEMS.find((name) => userAgent.includes(name))
  if (!browser) return userAgent
  return [NAMES[browser] ?? browser, system].filter(Boolean).join(', ')
}
