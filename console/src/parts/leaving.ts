/** When what is not saved is left, and what is asked before. Pure. */

/** What becomes of what is not saved: this browser keeps it, or has no room for it, or it is in a form, which is not kept. */
export type Unsaved = 'kept' | 'no-room' | 'form'

const QUESTIONS = { 'no-room': 'autosave.leaveUnkept', form: 'autosave.leaveForm', kept: 'autosave.leave' } as const

/** The question about several: the one about the worst of them. */
export const questionOf = (states: Unsaved[]): string =>
  QUESTIONS[(['no-room', 'form', 'kept'] as const).find((state) => states.includes(state)) ?? 'kept']

type Place = { pathname: string; search: unknown }

const viewOf = ({ search }: Place) => (search as { view?: unknown }).view

/** Whether a form is gone at the next place: on another screen, or in another view of the same one. */
export const isElsewhere = (current: Place, next: Place): boolean => current.pathname !== next.pathname || viewOf(current) !== viewOf(next)
