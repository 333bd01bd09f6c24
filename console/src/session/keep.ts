/** Keeps a value in this browser. Returns whether there was room for it. */
export function keepInBrowser(key: string, value: string): boolean {
  try {
    localStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}
