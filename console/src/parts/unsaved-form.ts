/** Forms that are saved by a button ask before what was entered in them is lost. */
import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isElsewhere } from './leaving.ts'
import { mayLeave, noteUnsaved } from './unsaved.ts'

/** Asks before a form is left whose changes are not saved: by a link, by the tabs of its screen, and when the page is closed or loaded again. */
export function useUnsavedForm(isUnsaved: boolean): void {
  useEffect(() => (isUnsaved ? noteUnsaved('form') : undefined), [isUnsaved])
  useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && isElsewhere(current, next) && !mayLeave(),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  })
}
