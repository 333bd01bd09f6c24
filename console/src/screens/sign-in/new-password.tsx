import type { CarillonError } from '@carillon/sdk'
import { Anchor, Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { NewPasswordInput } from '../../parts/new-password-input.tsx'
import { said } from '../../parts/toast.ts'
import { call } from '../../session/api.ts'
import { refreshSession } from '../../session/index.ts'
import { Door, tokenOf } from './door.tsx'

/** Sets a new password with the link of an email. */
export function NewPassword() {
  const { t } = useTranslation('sign-in')
  const navigate = useNavigate()
  const token = tokenOf(useLocation().hash)
  const [password, setPassword] = useState('')
  const set = useMutation<unknown, CarillonError>({
    mutationFn: () => call('POST', 'reset-password', { token, password }),
    onSuccess: async () => {
      said(t('newPassword.done'))
      // Where the provider is the only way in, the link of the operator has signed in.
      await refreshSession().catch(() => null)
      await navigate({ to: '/sign-in', replace: true })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set.mutate()
  }
  if (token === '')
    return (
      <Door
        title={t('link.title')}
        about={t('link.about')}
        foot={
          <Anchor component={Link} to="/lost-password" inherit>
            {t('link.again')}
          </Anchor>
        }
      />
    )
  return (
    <Door title={t('newPassword.title')} about={t('newPassword.about')}>
      <form className="form" onSubmit={submit}>
        {set.error && <Failed error={set.error} />}
        <NewPasswordInput value={password} onChange={setPassword} />
        <Button type="submit" loading={set.isPending} fullWidth>
          {t('newPassword.submit')}
        </Button>
      </form>
    </Door>
  )
}
