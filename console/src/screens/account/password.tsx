import { Button, PasswordInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { NewPasswordInput } from '../../parts/new-password-input.tsx'
import { Card } from '../../parts/page.tsx'
import { said } from '../../parts/toast.ts'
import { call } from '../../session/api.ts'

const EMPTY = { current_password: '', password: '' }

/** Changes the password. Other sessions end. */
export function Password() {
  const { t } = useTranslation('account')
  const [form, setForm] = useState(EMPTY)
  const save = useConsoleWrite(
    (form: typeof EMPTY) => call('PUT', 'profile/password', form),
    () => {
      setForm(EMPTY)
      said(t('password.saved'))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(form)
  }
  return (
    <Card title={t('password.heading')}>
      <form className="form pad" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <PasswordInput
          label={t('password.current')}
          name="current-password"
          autoComplete="current-password"
          required
          value={form.current_password}
          onChange={({ currentTarget: { value } }) => setForm((form) => ({ ...form, current_password: value }))}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
        />
        <NewPasswordInput value={form.password} onChange={(password) => setForm((form) => ({ ...form, password }))} />
        <div>
          <Button type="submit" variant="default" loading={save.isPending}>
            {t('password.submit')}
          </Button>
        </div>
      </form>
    </Card>
  )
}
