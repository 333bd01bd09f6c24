import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import type { ReactNode } from 'react'

/** Shows a toast. The button that closes it is a picture, so that it needs a name. */
export const notice = (message: ReactNode): string =>
  notifications.show({ message, withCloseButton: true, closeButtonProps: { 'aria-label': i18next.t('close') } })
