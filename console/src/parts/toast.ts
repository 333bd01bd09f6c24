import { CarillonError } from '@carillon/sdk'
import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import { createElement, Suspense } from 'react'
import { writeOfSaid } from '../session/last-write.ts'
import { lazyPart } from './lazy-part.ts'
import { notice } from './notice.ts'

/** What toasts have besides their texts is no part of the first load. */
const Said = lazyPart(() => import('./said.tsx'), 'Said')

function say(message: string, onUndo?: () => void): string {
  const write = writeOfSaid()
  if (!write && !onUndo) return notice(message)
  return notice(createElement(Suspense, { fallback: message }, createElement(Said, { message, write, ...(onUndo && { onUndo }) })))
}

/** Shows a toast that something was done. After a write, the toast offers the request as code. */
export const said = (message: string): void => void say(message)

/**
 * Says that something was done, and offers to undo it for ten seconds. If what `undo` returns is refused, a toast says why: the form that
 * would say so may be closed.
 */
export function undoable(message: string, undo: () => Promise<unknown>): void {
  const id = say(message, async () => {
    notifications.hide(id)
    try {
      await undo()
    } catch (thrown) {
      if (!(thrown instanceof CarillonError)) throw thrown
      notice(i18next.t('undoFailed', { message: thrown.message }))
    }
  })
}
