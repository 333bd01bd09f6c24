import type { CarillonError } from '@carillon/sdk'
import { Anchor, Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { call } from '../../session/api.ts'
import { Door } from './door.tsx'

/** Asks for a link by email. The answer is the same whether the address is known or not. */
export function LostPassword() {
  const { t } = useTranslation('sign-in')
  const [email, setEmail] = useState('')
  const send = useMutation<unknown, CarillonError>({ mutationFn: () => call('POST', 'lost-password', { email }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send.mutate()
  }
  const back = (
    <Anchor component={Link} to="/sign-in" inherit>
      {t('back')}
    </Anchor>
  )
  if (send.isSuccess) return <Door title={t('lostPassword.sentTitle')} about={t('lostPassword.sent', { email })} foot={back} />
  return (
    <Door title={t('lostPassword.title')} about={t('lostPassword.about')} foot={back}>
      <form className="form" onSubmit={submit}>
        {send.error && <Failed error={send.error} />}
        <TextInput
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Button type="submit" loading={send.isPending} fullWidth>
          {t('lostPassword.submit')}
        </Button>
      </form>
    </Door>
  )
}
