import { notifications } from '@mantine/notifications'
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

/** Says that something was done, and offers to undo it for ten seconds. */
export function undoable(message: string, undo: () => unknown): void {
  const id = say(message, () => {
    notifications.hide(id)
    undo()
  })
}
