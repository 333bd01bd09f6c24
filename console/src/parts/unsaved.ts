import i18next from 'i18next'

const unsaved = new Set<object>()

/** Notes that something is not saved, until the function that is returned is called. */
export function noteUnsaved(): () => void {
  const noted = {}
  unsaved.add(noted)
  return () => void unsaved.delete(noted)
}

/** Asks before what is not saved is left. */
export const mayLeave = (): boolean => unsaved.size === 0 || window.confirm(i18next.t('autosave.leave'))
