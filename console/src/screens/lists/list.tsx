import { Menu } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { Archive } from './archive.tsx'
import { Members } from './members.tsx'
import { RuleView } from './rule-view.tsx'
import { VIEWS, type View } from './search.ts'
import { TestUser } from './test-user.tsx'
import { UsedBy } from './used-by.tsx'

const route = getRouteApi('/member/p/$project/lists/$listId')
const PATH = '/api/client/lists/{listId}'

/** One list: its users, its rule, and where it is used. */
export function ListPage() {
  const listId = Number(route.useParams().listId)
  // The key resets the page for another list, so that open dialogs and typed values of the former one do not show.
  return <PageOf key={listId} listId={listId} />
}

function PageOf({ listId }: { listId: number }) {
  const { t } = useTranslation('lists')
  const { view: wanted, ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/lists/$listId' })
  const path = { path: { listId } }
  const {
    data: list,
    error,
    refetch,
  } = useRead(PATH, path, {
    refetchInterval: ({ state }) => (state.data?.state === 'building' ? LIVE_MS : 5 * LIVE_MS),
    // The version of a reply is lost in a copy of it.
    structuralSharing: false,
  })
  const mayChange = useMay('editor')
  const [isArchiving, setArchiving] = useState(false)
  const recount = useWrite(
    (api) => api.post('/api/client/lists/{listId}/recount', path),
    ['/api/client/lists'],
    () => said(t('recount.done')),
  )
  if (error && !list) return <Failed error={error} onRetry={() => void refetch()} />
  if (!list) return <Loading />
  const view = list.type === 'dynamic' ? (wanted ?? 'users') : 'users'
  return (
    <>
      <PageHead
        title={list.name}
        crumb={list.name}
        about={list.description || t('static')}
        actions={
          <>
            <Chip state={list.state} reason={list.state === 'building' ? `${Math.round(list.progress * 100)} %` : null} />
            <CopyAs
              label={t('moreOf', { name: list.name })}
              request={{ method: 'GET', path: PATH, params: { listId } }}
              audited={{ type: 'list', id: listId }}
            >
              {mayChange && <Menu.Item onClick={() => recount.mutate(undefined)}>{t(`recount.${list.type}`)}</Menu.Item>}
              {mayChange && (
                <Menu.Item color="ember" onClick={() => setArchiving(true)}>
                  {t('archive.open')}
                </Menu.Item>
              )}
            </CopyAs>
          </>
        }
      />
      {recount.error && <Failed error={recount.error} />}
      {list.type === 'dynamic' && (
        <TabBar
          label={t('views')}
          tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
          current={view}
          onChange={(id) => void navigate({ search: id === 'users' ? {} : { view: id as View }, replace: true })}
        />
      )}
      {view === 'users' ? (
        <div className="cols main-side">
          <Members list={list} search={search} />
          <div className="stack">
            <TestUser list={list} />
            <UsedBy listId={listId} />
          </div>
        </div>
      ) : (
        <RuleView list={list} mayChange={mayChange} />
      )}
      <Archive list={list} isOpen={isArchiving} onClose={() => setArchiving(false)} />
    </>
  )
}
