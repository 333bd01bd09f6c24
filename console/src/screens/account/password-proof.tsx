import { Button, Group, PasswordInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleRead, useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { wasDismissed } from '../../session/passkeys.ts'

type Props<T> = {
  action: string
  prove: (proof: { current_password?: string }) => Promise<T>
  onDone: (result: T) => void
  onCancel: () => void
}

/**
 * Asks for the password before an action that a thief of an open session must not be able to do. Members without a password only confirm;
 * the server requires that they have signed in recently.
 */
export function PasswordProof<T>({ action, prove, onDone, onCancel }: Props<T>) {
  const { t } = useTranslation('account')
  const [password, setPassword] = useState('')
  const { data } = useConsoleRead<{ has_password: boolean }>('profile')
  const hasPassword = data?.has_password !== false
  const write = useConsoleWrite(prove, onDone)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    write.mutate(hasPassword ? { current_password: password } : {})
  }
  return (
    <form className="form" onSubmit={submit}>
      {write.error && (wasDismissed(write.error) ? <p role="alert">{t('passkeys.dismissed')}</p> : <Failed error={write.error} />)}
      {hasPassword && (
        <PasswordInput
          label={t('password.current')}
          name="current-password"
          autoComplete="current-password"
          required
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
        />
      )}
      <Group>
        <Button type="submit" loading={write.isPending}>
          {action}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
      </Group>
    </form>
  )
}
