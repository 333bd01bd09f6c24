import { Menu } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { said } from '../../parts/toast.ts'
import { Connection } from './connection.tsx'
import { DeleteProvider } from './delete-provider.tsx'
import { KINDS, type Kind, PROVIDER, PROVIDERS } from './search.ts'
import { Settings } from './settings.tsx'

const route = getRouteApi('/member/p/$project/providers/$providerId')

/** One provider: whether its connection works, and its settings. */
export function ProviderPage() {
  const providerId = Number(route.useParams().providerId)
  // The key resets the page for another provider, so that open dialogs and typed values of the former one do not show.
  return <PageOf key={providerId} providerId={providerId} />
}

function PageOf({ providerId }: { providerId: number }) {
  const { t } = useTranslation('providers')
  const path = { providerId }
  const { data: provider, error, refetch } = useRead(PROVIDER, { path })
  const kinds = useRead(KINDS, undefined, { staleTime: Number.POSITIVE_INFINITY })
  const [isDeleting, setDeleting] = useState(false)
  const makeDefault = useWrite(
    (api) => api.patch(PROVIDER, { path, body: { is_default: true } }),
    [PROVIDERS],
    ({ name, channel }) => said(t('makeDefault.done', { name, channel: t(`channel.${channel}.name`) })),
  )
  const failure = error ?? kinds.error
  if (failure && !provider) return <Failed error={failure} onRetry={() => void refetch()} />
  const kind = kinds.data?.results.find(({ name }) => name === provider?.kind) as Kind | undefined
  if (!provider || !kind) return <Loading />
  return (
    <>
      <PageHead
        title={provider.name}
        crumb={provider.name}
        about={`${kind.label} · ${t(`channel.${provider.channel}.name`)}`}
        actions={
          <>
            {provider.is_default && <Chip state={t('default')} tone="good" />}
            <CopyAs
              label={t('moreOf', { name: provider.name })}
              request={{ method: 'GET', path: PROVIDER, params: path }}
              audited={{ type: 'provider', id: provider.id }}
            >
              {!provider.is_default && <Menu.Item onClick={() => makeDefault.mutate(undefined)}>{t('makeDefault.open')}</Menu.Item>}
              <Menu.Item color="ember" onClick={() => setDeleting(true)}>
                {t('delete.open')}
              </Menu.Item>
            </CopyAs>
          </>
        }
      />
      {makeDefault.error && <Failed error={makeDefault.error} />}
      <div className="cols main-side">
        <Settings provider={provider} kind={kind} />
        <div className="stack">
          <Connection providerId={providerId} />
          {provider.callback_url && (
            <Card title={t('callback.heading')}>
              <div className="pad sm">
                <p>{t('callback.about', { kind: kind.label })}</p>
                <Copyable value={provider.callback_url} label={t('callback.copy')} />
              </div>
            </Card>
          )}
        </div>
      </div>
      <DeleteProvider provider={provider} isOpen={isDeleting} onClose={() => setDeleting(false)} />
    </>
  )
}
