import { Anchor } from '@mantine/core'
import { getRouteApi, Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { SignInWays } from '../../parts/sign-in-ways.tsx'
import { sessionContinues } from '../../session/ended.ts'
import { refreshSession } from '../../session/index.ts'
import { Door, tokenOf } from './door.tsx'
import { Owner } from './owner.tsx'

const route = getRouteApi('/sign-in')

/** Sign in; with the link of the first start, create the owner. */
export function SignIn() {
  const { t } = useTranslation('sign-in')
  const { to } = route.useSearch()
  const { hash } = useLocation()
  const navigate = useNavigate()
  const enter = async () => {
    await refreshSession()
    sessionContinues()
    await navigate({ to: to ?? '/', replace: true })
  }
  const token = tokenOf(hash)
  if (token !== '') return <Owner token={token} onDone={enter} />
  return (
    <Door
      title={t('title')}
      foot={
        <Anchor component={Link} to="/lost-password" inherit>
          {t('lost')}
        </Anchor>
      }
    >
      <SignInWays to={to ?? '/'} onDone={enter} />
    </Door>
  )
}
