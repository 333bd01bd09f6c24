import i18next from 'i18next'

/** What becomes of what is not saved: this browser keeps it, or has no room for it, or it is in a form, which is not kept. */
export type Unsaved = 'kept' | 'no-room' | 'form'

const unsaved = new Set<{ is: Unsaved }>()

/** Notes that something is not saved, until the function that is returned is called. */
export function noteUnsaved(is: Unsaved): () => void {
  const noted = { is }
  unsaved.add(noted)
  return () => void unsaved.delete(noted)
}

const QUESTIONS = { 'no-room': 'autosave.leaveUnkept', form: 'autosave.leaveForm', kept: 'autosave.leave' } as const

/** The question about several: the one about the worst of them. */
export const questionOf = (states: Unsaved[]): string =>
  QUESTIONS[(['no-room', 'form', 'kept'] as const).find((state) => states.includes(state)) ?? 'kept']

/** Asks before what is not saved is left. */
export function mayLeave(): boolean {
  if (unsaved.size === 0) return true
  return window.confirm(i18next.t(questionOf([...unsaved].map(({ is }) => is))))
}
