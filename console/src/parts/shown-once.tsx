import { Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Code } from './code.tsx'

type Props = {
  /** Why it is not shown again. */
  about: string
  value: string
  /** The name of the variable that programs read it from. */
  variable: string
  onClose: () => void
}

/** A secret that the server has just made, to be copied now. */
export function ShownOnce({ about, value, variable, onClose }: Props) {
  const { t } = useTranslation()
  return (
    <div className="form">
      <p className="sm">{about}</p>
      <Code text={value} />
      <p className="sm">{t('shownOnce.env')}</p>
      <Code text={`${variable}=${value}`} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('shownOnce.done')}</Button>
      </Group>
    </div>
  )
}
