import type { CarillonError } from '@carillon/sdk'
import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { NewPasswordInput } from '../../parts/new-password-input.tsx'
import { call } from '../../session/api.ts'
import { refreshSession } from '../../session/index.ts'
import { Door, tokenOf } from './door.tsx'

/** Accepts an invitation: a name, a password, and the member is signed in. */
export function Invitation() {
  const { t } = useTranslation('sign-in')
  const navigate = useNavigate()
  const token = tokenOf(useLocation().hash)
  const [form, setForm] = useState({ name: '', password: '' })
  const accept = useMutation<unknown, CarillonError>({
    mutationFn: () => call('POST', 'accept-invitation', { token, ...form }),
    onSuccess: async () => {
      await refreshSession()
      await navigate({ to: '/', replace: true })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    accept.mutate()
  }
  if (token === '') return <Door title={t('link.title')} about={t('link.invitation')} />
  return (
    <Door title={t('invitation.title')} about={t('invitation.about')}>
      <form className="form" onSubmit={submit}>
        {accept.error && <Failed error={accept.error} />}
        <TextInput
          label={t('owner.name')}
          name="name"
          autoComplete="name"
          required
          value={form.name}
          onChange={({ currentTarget: { value } }) => setForm((form) => ({ ...form, name: value }))}
        />
        <NewPasswordInput value={form.password} onChange={(password) => setForm((form) => ({ ...form, password }))} />
        <Button type="submit" loading={accept.isPending} fullWidth>
          {t('invitation.submit')}
        </Button>
      </form>
    </Door>
  )
}
