import { Button, Group, Modal, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorSince } from './error-since.ts'
import { Failed } from './failed.tsx'

type Props = {
  isOpen: boolean
  onClose: () => void
  title: string
  /** The consequence, with its number. */
  children: ReactNode
  /** The verb of the button, with its consequence. */
  action: string
  /** What to type first, where much is at stake. */
  typed?: string
  isDanger?: boolean
  /** Something that the question shows is still being read. */
  isLoading?: boolean
  /** The action is being done. Until it is answered, the question stays: to close it would cancel nothing. */
  isPending: boolean
  /** Why the action failed. */
  error: unknown
  onConfirm: () => void
}

/** Asks for confirmation of an action that cannot be undone. Other actions are done at once, with an Undo. */
export function Confirm({
  isOpen,
  onClose,
  title,
  children,
  action,
  typed,
  isDanger = true,
  isLoading = false,
  isPending,
  error,
  onConfirm,
}: Props) {
  const { t } = useTranslation()
  const [{ text, wasOpen }, setTyped] = useState({ text: '', wasOpen: isOpen })
  // What was typed for one is not typed for the next.
  if (wasOpen !== isOpen) setTyped({ text: '', wasOpen: isOpen })
  const failed = useErrorSince(isOpen, error)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      closeOnClickOutside={!isPending}
      closeOnEscape={!isPending}
      title={title}
      closeButtonProps={{ 'aria-label': t('close'), disabled: isPending }}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          onConfirm()
        }}
      >
        <div className="sm">{children}</div>
        {typed !== undefined && (
          <TextInput
            label={t('typeToConfirm', { typed })}
            value={text}
            onChange={(event) => setTyped({ text: event.currentTarget.value, wasOpen })}
            autoComplete="off"
            required
          />
        )}
        {failed !== null && failed !== undefined && <Failed error={failed} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isPending}>
            {t('cancel')}
          </Button>
          <Button
            type="submit"
            color={isDanger ? 'ember' : undefined}
            loading={isPending || isLoading}
            disabled={typed !== undefined && text.trim() !== typed.trim()}
          >
            {action}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
