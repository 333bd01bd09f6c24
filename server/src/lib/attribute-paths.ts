/** Attribute paths: `data.plan`, `data.address.city`, `data.a\.b` for a key with a dot. Pure. */

const ROOT = 'data.'
const KEYS_MAX = 16

/** The path of a top-level key of `data`. A dot or a backslash in the key is escaped with a backslash. */
export const pathOfKey = (key: string): string => `${ROOT}${key.replace(/[\\.]/g, '\\$&')}`

/** The keys of a path, from the outermost; null if it is not a path. A backslash escapes only a dot or a backslash. */
export function pathOf(attribute: string): string[] | null {
  if (!attribute.startsWith(ROOT)) return null
  const keys: string[] = []
  let key = ''
  for (const [token] of attribute.slice(ROOT.length).matchAll(/\\[.\\]|./gsu)) {
    if (token === '.') {
      keys.push(key)
      key = ''
    } else key += /^\\[.\\]$/.test(token) ? token[1] : token
  }
  keys.push(key)
  return keys.includes('') || keys.length > KEYS_MAX ? null : keys
}
