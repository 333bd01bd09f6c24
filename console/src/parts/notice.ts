import { notifications } from '@mantine/notifications'
import i18next from 'i18next'
import type { ReactNode } from 'react'

/** Shows a toast. Its close button is an icon, so it needs a name. */
export const notice = (message: ReactNode): string =>
  notifications.show({ message, withCloseButton: true, closeButtonProps: { 'aria-label': i18next.t('close') } })
