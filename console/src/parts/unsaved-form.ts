/** Forms that are saved by a button ask before what was entered in them is lost. */
import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { mayLeave, noteUnsaved } from './unsaved.ts'

type Place = { pathname: string; search: unknown }

const viewOf = ({ search }: Place) => (search as { view?: unknown }).view

/** Whether a form is gone at the next place: on another screen, or in another view of the same one. */
export const isElsewhere = (current: Place, next: Place): boolean => current.pathname !== next.pathname || viewOf(current) !== viewOf(next)

/** Asks before a form is left whose changes are not saved: by a link, by the tabs of its screen, and when the page is closed or loaded again. */
export function useUnsavedForm(isUnsaved: boolean): void {
  useEffect(() => (isUnsaved ? noteUnsaved('form') : undefined), [isUnsaved])
  useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && isElsewhere(current, next) && !mayLeave(),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  })
}
