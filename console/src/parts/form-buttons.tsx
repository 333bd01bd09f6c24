import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

type Props = {
  onCancel: () => void
  isPending: boolean
  /** What the form does cannot be cancelled once it was begun. */
  isHeld?: boolean
  disabled?: boolean
  /** What the form does, as a verb. */
  children: ReactNode
}

/** The buttons at the end of a form in a dialog: cancel and submit. */
export function FormButtons({ onCancel, isPending, isHeld = false, disabled, children }: Props) {
  const { t } = useTranslation()
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel} disabled={isHeld && isPending}>
        {t('cancel')}
      </Button>
      <Button type="submit" loading={isPending} disabled={disabled}>
        {children}
      </Button>
    </Group>
  )
}
