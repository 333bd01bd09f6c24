import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { UndoToast } from './undo-toast.tsx'

/** Says that something was done. */
export const said = (message: string): void => void notifications.show({ message, withCloseButton: true })

/** Says that something was done, and offers to undo it for ten seconds. */
export function undoable(message: string, undo: () => unknown): void {
  const id = notifications.show({
    message: createElement(UndoToast, {
      message,
      onUndo: () => {
        notifications.hide(id)
        undo()
      },
    }),
  })
}
