import i18next from 'i18next'

const unsaved = new Set<{ isKept: boolean }>()

/** Notes that something is not saved, and whether this browser keeps it, until the function that is returned is called. */
export function noteUnsaved(isKept: boolean): () => void {
  const noted = { isKept }
  unsaved.add(noted)
  return () => void unsaved.delete(noted)
}

/** Asks before what is not saved is left. */
export function mayLeave(): boolean {
  if (unsaved.size === 0) return true
  const isKept = [...unsaved].every(({ isKept }) => isKept)
  return window.confirm(i18next.t(isKept ? 'autosave.leave' : 'autosave.leaveUnkept'))
}
