import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import { createElement } from 'react'
import { UndoToast } from './undo-toast.tsx'

/** The button that closes a toast is a picture, so that it needs a name. */
const closed = () => ({ closeButtonProps: { 'aria-label': i18next.t('close') } })

/** Says that something was done. */
export const said = (message: string): void => void notifications.show({ message, withCloseButton: true, ...closed() })

/** Says that something was done, and offers to undo it for ten seconds. */
export function undoable(message: string, undo: () => unknown): void {
  const id = notifications.show({
    ...closed(),
    message: createElement(UndoToast, {
      message,
      onUndo: () => {
        notifications.hide(id)
        undo()
      },
    }),
  })
}
