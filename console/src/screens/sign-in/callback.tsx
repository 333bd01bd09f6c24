import { Anchor } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { Door } from './door.tsx'

const route = getRouteApi('/sign-in/callback')

/** Shows why the provider of single sign-on did not sign the member in. Members who are signed in never see it. */
export function Callback() {
  const { t } = useTranslation('sign-in')
  const error = route.useLoaderData()
  return (
    <Door
      title={t('callback.title')}
      foot={
        <Anchor component={Link} to="/sign-in" inherit>
          {t('back')}
        </Anchor>
      }
    >
      <Failed error={error} />
    </Door>
  )
}
