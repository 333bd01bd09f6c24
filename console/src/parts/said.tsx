import { Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Write } from '../session/last-write.ts'
import { SentRequest } from './sent-request.tsx'

type Props = { message: string; write: Write | null; onUndo?: () => void }

/** The text of a toast with its Undo, and the request that it is about. */
export function Said({ message, write, onUndo }: Props) {
  const { t } = useTranslation()
  return (
    <Group justify="space-between" wrap="nowrap">
      <span>{message}</span>
      <Group gap="xs" wrap="nowrap">
        {onUndo && (
          <Button variant="default" size="compact-sm" onClick={onUndo}>
            {t('undo')}
          </Button>
        )}
        {write && <SentRequest write={write} />}
      </Group>
    </Group>
  )
}
