import i18next from 'i18next'
import { questionOf, type Unsaved } from './leaving.ts'

const unsaved = new Set<{ is: Unsaved }>()

/** Notes that something is not saved, until the function that is returned is called. */
export function noteUnsaved(is: Unsaved): () => void {
  const noted = { is }
  unsaved.add(noted)
  return () => void unsaved.delete(noted)
}

/** Asks before what is not saved is left. */
export function mayLeave(): boolean {
  if (unsaved.size === 0) return true
  return window.confirm(i18next.t(questionOf([...unsaved].map(({ is }) => is))))
}
