import type { CarillonError } from '@carillon/sdk'
import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { NewPasswordInput } from '../../parts/new-password-input.tsx'
import { call } from '../../session/api.ts'
import { Door } from './door.tsx'

/** Creates the owner of the organisation with the link of the first start. */
export function Owner({ token, onDone }: { token: string; onDone: () => unknown }) {
  const { t } = useTranslation('sign-in')
  const [form, setForm] = useState({ name: '', email: '', password: '' })
  const create = useMutation<unknown, CarillonError>({
    mutationFn: () => call('POST', 'owner', { token, ...form }),
    onSuccess: () => onDone(),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Door title={t('owner.title')} about={t('owner.about')}>
      <form className="form" onSubmit={submit}>
        {create.error && <Failed error={create.error} />}
        <TextInput
          label={t('owner.name')}
          name="name"
          autoComplete="name"
          required
          value={form.name}
          onChange={({ currentTarget: { value } }) => setForm((form) => ({ ...form, name: value }))}
        />
        <TextInput
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username"
          required
          value={form.email}
          onChange={({ currentTarget: { value } }) => setForm((form) => ({ ...form, email: value }))}
        />
        <NewPasswordInput value={form.password} onChange={(password) => setForm((form) => ({ ...form, password }))} />
        <Button type="submit" loading={create.isPending} fullWidth>
          {t('owner.submit')}
        </Button>
      </form>
    </Door>
  )
}
