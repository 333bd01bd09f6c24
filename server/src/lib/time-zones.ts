// Bare offsets such as `+10:00` mean something to Node 24 but not to Node 20, PostgreSQL or people (D-F-3).
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,49}$/
const CACHE_ENTRIES_MAX = 2000

// Asking `Intl` costs some fifty microseconds and happens for every contact of an import.
const known = new Map<string, string | null>()

/** Is this the name of a time zone (D-F-3)? Letter case does not matter. */
export const isTimeZone = (text: string) => find(text) !== null

/**
 * The zone as supplied, with its letter case put right when that is all that `Intl` would change. A name that `Intl`
 * knows under another one (`US/Pacific`) stays what the caller called it.
 */
export const canonicalTimeZone = (text: string) => find(text) ?? text

function find(text: string): string | null {
  if (!ZONE_NAME.test(text)) return null
  const cached = known.get(text)
  if (cached !== undefined) return cached
  if (known.size >= CACHE_ENTRIES_MAX) known.clear()
  const found = resolve(text)
  known.set(text, found)
  return found
}

function resolve(text: string): string | null {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text
  } catch {
    return null
  }
}
