import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from './code.tsx'

type Secret = {
  /** Why it is not shown again. */
  about: string
  value: string
  /** The name of the variable that programs read it from. */
  variable: string
}

type Props = {
  isOpen: boolean
  onClose: () => void
  title: string
  size?: string
  /** The secret is being made. */
  isPending: boolean
  secret: Secret | undefined
  /** The form that makes it. */
  children: ReactNode
}

/**
 * A dialog that creates a secret and shows it once. It cannot be closed while the secret is being created, because the secret would be lost. After that,
 * only its buttons close it.
 */
export function SecretDialog({ isOpen, onClose, title, size = 'lg', isPending, secret, children }: Props) {
  const { t } = useTranslation()
  const isHeld = isPending || secret !== undefined
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      closeOnClickOutside={!isHeld}
      closeOnEscape={!isHeld}
      title={title}
      closeButtonProps={{ 'aria-label': t('close'), disabled: isPending }}
      size={size}
    >
      {secret ? <ShownOnce {...secret} onClose={onClose} /> : children}
    </Modal>
  )
}

/** A secret that the server has just made, to be copied now. */
function ShownOnce({ about, value, variable, onClose }: Secret & { onClose: () => void }) {
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
