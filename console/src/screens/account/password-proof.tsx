import { Button, Group, PasswordInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'

type Props<T> = {
  action: string
  prove: (proof: { current_password: string }) => Promise<T>
  onDone: (result: T) => void
  onCancel: () => void
}

/** Asks for the password before what a thief of an open session must not do. */
export function PasswordProof<T>({ action, prove, onDone, onCancel }: Props<T>) {
  const { t } = useTranslation('account')
  const [password, setPassword] = useState('')
  const write = useConsoleWrite(prove, onDone)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    write.mutate({ current_password: password })
  }
  return (
    <form className="form" onSubmit={submit}>
      {write.error && <Failed error={write.error} />}
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
