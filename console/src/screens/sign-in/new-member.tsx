import type { CarillonError } from '@carillon/sdk'
import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { NewPasswordInput } from '../../parts/new-password-input.tsx'
import { call } from '../../session/api.ts'

type Props = {
  /** The endpoint that takes the token of the link with the form. */
  path: 'owner' | 'accept-invitation'
  token: string
  /** An invitation knows the address that it was sent to. */
  asksForEmail: boolean
  submit: string
  onDone: () => unknown
}

/** The form of a new member. */
export function NewMember({ path, token, asksForEmail, submit, onDone }: Props) {
  const { t } = useTranslation('sign-in')
  const [{ email, ...form }, setForm] = useState({ name: '', email: '', password: '' })
  const set = (changes: Partial<typeof form & { email: string }>) => setForm((form) => ({ ...form, ...changes }))
  const create = useMutation<unknown, CarillonError>({
    mutationFn: () => call('POST', path, { token, ...form, ...(asksForEmail && { email }) }),
    onSuccess: () => onDone(),
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <form className="form" onSubmit={send}>
      {create.error && <Failed error={create.error} />}
      <TextInput
        label={t('owner.name')}
        name="name"
        autoComplete="name"
        required
        value={form.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {asksForEmail && (
        <TextInput
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => set({ email: event.currentTarget.value })}
        />
      )}
      <NewPasswordInput value={form.password} onChange={(password) => set({ password })} />
      <Button type="submit" loading={create.isPending} fullWidth>
        {submit}
      </Button>
    </form>
  )
}
