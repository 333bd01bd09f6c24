import { Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The text of a toast with its Undo. */
export function UndoToast({ message, onUndo }: { message: string; onUndo: () => void }) {
  const { t } = useTranslation()
  return (
    <Group justify="space-between" wrap="nowrap">
      <span>{message}</span>
      <Button variant="default" size="compact-sm" onClick={onUndo}>
        {t('undo')}
      </Button>
    </Group>
  )
}
