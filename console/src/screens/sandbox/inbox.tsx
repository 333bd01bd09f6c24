import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Pages } from '../../parts/data-table.tsx'
import { Empty, NoMatch } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { SearchBox } from '../../parts/filters.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { useLiveReads } from '../../parts/live/use-live.ts'
import { Loading } from '../../parts/loading.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { said } from '../../parts/toast.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { Captured } from './captured.tsx'
import { Faults } from './faults.tsx'
import { queryOf } from './grammar.ts'
import { CapturedMessage } from './message.tsx'
import { Outcomes } from './outcomes.tsx'
import { isRead, useReadMarks, withAllRead, withRead } from './read-marks.ts'
import { type First, firstIn } from './search.ts'

const route = getRouteApi('/member/p/$project/sandbox')
const PATH = '/api/client/sandbox/messages'

/** What the sandbox captured, all channels in one list; new messages appear there by themselves. */
export function Inbox() {
  const { t } = useTranslation('sandbox')
  const { message, tab, q: search = '', ...paging } = route.useSearch()
  const query = { ...paging, ...queryOf(search) }
  const navigate = useNavigate({ from: '/p/$project/sandbox' })
  const mayEmpty = useMay('editor')
  const [marks, keep] = useReadMarks(useProject().id)
  const [isEmptying, setEmptying] = useState(false)
  const isLive = useLiveReads('sandbox', PATH)
  const again = { keepsPrevious: true, refetchInterval: isLive ? false : LIVE_MS } as const
  const { data, error, isPlaceholderData, refetch } = useRead(PATH, { query: { ...query, limit: 50 } }, again)
  const searchFor = (q: string) => void navigate({ search: q === '' ? {} : { q }, replace: true })
  const open = (id: number) => {
    keep(withRead(marks, id))
    void navigate({ search: (search) => ({ ...search, message: id }), replace: message !== undefined })
  }
  const ids = data?.results.map(({ id }) => id) ?? []
  const [first, setFirst] = useState<First>()
  const next = data && !isPlaceholderData ? firstIn(JSON.stringify(query), { ids, isWhole: data.nextCursor === null }, first) : first
  if (next !== first) setFirst(next)
  const shown = message ?? next?.id
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={
          <>
            <CopyAs label={t('more')} request={{ method: 'GET', path: PATH, query: queryOf(search) }} />
            {ids.some((id) => !isRead(marks, id)) && (
              <Button variant="default" onClick={() => keep(withAllRead(marks, ids))}>
                {t('readAll')}
              </Button>
            )}
            {mayEmpty && (
              <Button variant="outline" color="ember" onClick={() => setEmptying(true)}>
                {t('empty.open')}
              </Button>
            )}
          </>
        }
      />
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <div className="cols inbox">
          <Card className="captured">
            <div className="tools">
              <SearchBox label={t('search')} example={t('searchExample')} value={search} onChange={searchFor} />
            </div>
            {data.results.length === 0 ? (
              search === '' ? (
                <Empty>{t('none')}</Empty>
              ) : (
                <NoMatch onClear={() => searchFor('')} />
              )
            ) : (
              <Captured messages={data.results} shown={shown} isRead={(id) => isRead(marks, id)} onOpen={open} />
            )}
            <Outcomes />
            <Faults />
            <Pages data={data} onPage={(paging) => void navigate({ search: ({ q }) => ({ ...(q !== undefined && { q }), ...paging }) })} />
          </Card>
          {shown !== undefined && <CapturedMessage id={shown} tab={tab ?? 'preview'} />}
        </div>
      )}
      <EmptyInbox isOpen={isEmptying} onClose={() => setEmptying(false)} />
    </>
  )
}

function EmptyInbox({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('sandbox')
  const empty = useWrite(
    (api) => api.delete(PATH),
    [PATH],
    () => {
      onClose()
      said(t('empty.done'))
    },
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('empty.title')}
      action={t('empty.action')}
      isPending={empty.isPending}
      error={empty.error}
      onConfirm={() => empty.mutate(undefined)}
    >
      <p>{t('empty.about')}</p>
    </Confirm>
  )
}
