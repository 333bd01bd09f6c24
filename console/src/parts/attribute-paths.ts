/** Paths of attributes, as rules name them: `data.plan`, `data.address.city`, `data.a\.b` for a name with a dot. */

const ROOT = 'data.'

/** The path of nested names of `data`, from the outermost. */
export const pathOf = (names: string[]): string => `${ROOT}${names.map((name) => name.replace(/[.\\]/g, '\\$&')).join('.')}`

/** The names of a path, from the outermost; null for what is outside `data`. */
export function namesOf(path: string): string[] | null {
  if (!path.startsWith(ROOT)) return null
  let name = ''
  const names = []
  for (const [token] of path.slice(ROOT.length).matchAll(/\\[.\\]|./gsu)) {
    if (token === '.') {
      names.push(name)
      name = ''
    } else name += token.length > 1 && token.startsWith('\\') ? token.slice(1) : token
  }
  names.push(name)
  return names.includes('') ? null : names
}
