/** Keeps a value in this browser. Returns whether there was room for it. */
export function keepInBrowser(key: string, value: string): boolean {
  try {
    localStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}

const COPIES = 'carillon.copied-steps'

/** Where the copied steps of a member are kept. */
export const copiesKey = (member: number, project: number) => `${COPIES}.${member}.${project}`

/** Removes the copied steps that belong to no member: they may contain secrets. */
export function dropUnownedCopies(): void {
  const owned = copiesKey(0, 0).split('.').length
  for (const key of Object.keys(localStorage))
    if (key.startsWith(`${COPIES}.`) && key.split('.').length < owned) localStorage.removeItem(key)
}
