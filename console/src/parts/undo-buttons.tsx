import { Button } from '@mantine/core'
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

type Props = { undo: (() => void) | undefined; redo: (() => void) | undefined }

/** The buttons that undo the last change in an editor, and redo it. */
export function UndoButtons({ undo, redo }: Props) {
  const { t } = useTranslation()
  return (
    <>
      <Button variant="default" size="xs" disabled={!undo} leftSection={<IconArrowBackUp size={14} aria-hidden />} onClick={undo}>
        {t('undo')}
      </Button>
      <Button variant="default" size="xs" disabled={!redo} leftSection={<IconArrowForwardUp size={14} aria-hidden />} onClick={redo}>
        {t('redo')}
      </Button>
    </>
  )
}
