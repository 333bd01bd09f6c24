import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Failed } from '../../parts/failed.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { returnFocus } from '../../parts/return-focus.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/project.tsx'
import { RecipientDrawer } from './drawer.tsx'
import { useOpenedRecipient } from './opened-recipient.ts'
import { useQueueActions } from './queue-actions.ts'
import { keyOf, QUEUE, type QueueSearch, type Recipient, SITES, STATES } from './search.ts'

/** Where the focus returns when the drawer closes. */
const linkId = (key: string) => `recipient-${key}`

/** The recipients in the queue, newest first, and the one that is open. */
export function Queue({ search, open }: { search: QueueSearch; open: string | undefined }) {
  const { t } = useTranslation('mail')
  const navigate = useNavigate({ from: '/p/$project/mail-queue' })
  const recipients = useRead(QUEUE, { query: { ...search, limit: 50 } }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  const opened = useOpenedRecipient(recipients.data?.results, open)
  const close = () => {
    void navigate({ search, replace: true })
    if (open !== undefined) returnFocus(linkId(open))
  }
  return (
    <div className={opened ? 'beside' : undefined}>
      <Card>
        <SearchTable
          label={t('view.queue')}
          columns={useColumns(opened !== undefined)}
          rows={recipients}
          rowKey={keyOf}
          search={search}
          onSearch={(search, replace) => void navigate({ search, replace })}
          searchLabel={t('search')}
          filters={useFilters(search)}
          selected={open}
          empty={t('empty')}
        />
        <ForAll search={search} />
      </Card>
      {opened && <RecipientDrawer key={open} recipient={opened} onClose={close} />}
    </div>
  )
}

function useFilters({ domain, campaign_id }: QueueSearch): Filter[] {
  const { t } = useTranslation('mail')
  const { data: sites } = useRead(SITES, { query: { limit: 100 } })
  return [
    { id: 'state', label: t('column.state'), values: STATES.map((value) => ({ value, label: value })) },
    { id: 'site', label: t('column.site'), values: (sites?.results ?? []).map(({ site, label }) => ({ value: site, label })) },
    ...(domain ? [{ id: 'domain', label: t('column.domain'), values: [] }] : []),
    ...(campaign_id ? [{ id: 'campaign_id', label: t('column.campaign'), values: [] }] : []),
  ]
}

function useColumns(isBeside: boolean): Column<Recipient>[] {
  const { t } = useTranslation('mail')
  const columns: Column<Recipient>[] = [
    {
      id: 'recipient',
      label: t('column.recipient'),
      cell: (row) => (
        <>
          <Link
            id={linkId(keyOf(row))}
            className="plain recipient"
            from="/p/$project/mail-queue"
            search={(search) => ({ ...search, open: keyOf(row) })}
          >
            {row.recipient || t('erased')}
          </Link>
          <span className="r">{row.from}</span>
        </>
      ),
    },
    { id: 'state', label: t('column.state'), cell: ({ state }) => <Chip state={state} /> },
    { id: 'site', label: t('column.site'), isExtra: true, cell: ({ site, domain }) => site ?? <span className="quiet">{domain}</span> },
    {
      id: 'reply',
      label: t('column.reply'),
      isWide: true,
      cell: ({ last_attempt }) => last_attempt && <span className="sm">{last_attempt.response ?? last_attempt.detail}</span>,
    },
    { id: 'attempts', label: t('column.attempts'), isNumber: true, isExtra: true, cell: ({ attempts }) => <Num value={attempts} /> },
    {
      id: 'next',
      label: t('column.next'),
      isNumber: true,
      isExtra: true,
      cell: ({ next_attempt_at }) => (next_attempt_at ? <Time at={next_attempt_at} /> : <span className="quiet">–</span>),
    },
  ]
  return isBeside ? columns.slice(0, 2) : columns
}

/** What can be done with all recipients of a site, a domain or a campaign that wait. */
function ForAll({ search: { site, domain, campaign_id } }: { search: QueueSearch }) {
  const { t } = useTranslation('mail')
  const mayAct = useMay('publisher')
  const [isCancelling, setCancelling] = useState(false)
  const body = { ...(site && { site }), ...(domain && { domain }), ...(campaign_id && { campaign_id: Number(campaign_id) }) }
  const { retry, cancel } = useQueueActions(body, () => setCancelling(false))
  if (!mayAct || Object.keys(body).length === 0) return null
  const what = Object.values(body).join(', ')
  return (
    <footer>
      {retry.error && <Failed error={retry.error} />}
      <div className="acts">
        <Button size="xs" variant="default" loading={retry.isPending} onClick={() => retry.mutate(undefined)}>
          {t('retry.all', { what })}
        </Button>
        <Button size="xs" variant="default" onClick={() => setCancelling(true)}>
          {t('cancelled.all', { what })}
        </Button>
      </div>
      <Confirm
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        title={t('cancelled.title', { what })}
        action={t('cancelled.action')}
        isPending={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate(undefined)}
      >
        <p>{t('cancelled.about')}</p>
      </Confirm>
    </footer>
  )
}
