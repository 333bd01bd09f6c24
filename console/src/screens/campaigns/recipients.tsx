import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { MESSAGE_STATES } from '../../parts/message-states.ts'
import { Card } from '../../parts/page.tsx'
import { type SavedColumn, useSaveRows } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import type { Campaign } from './search.ts'

type Recipient = components['schemas']['CampaignRecipient']

const route = getRouteApi('/member/p/$project/campaigns/$campaignId')

const PATH = '/api/client/campaigns/{campaignId}/recipients'

/** Every recipient with the state of the message. */
export function Recipients({ campaign: { id, state } }: { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const { user, ...filters } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/campaigns/$campaignId' })
  const recipients = useRead(
    PATH,
    { path: { campaignId: id }, query: { ...filters, limit: 50 } },
    { keepsPrevious: true, refetchInterval: state === 'running' || state === 'loading' ? 2 * LIVE_MS : false },
  )
  const open = (user: string) => void navigate({ search: (search) => ({ ...search, user }), replace: true, resetScroll: false })
  const columns = useColumns(open)
  const save = useSaveRows({ path: PATH, params: { campaignId: id }, query: filters }, columns)
  return (
    <Card
      title={t('recipients.heading')}
      actions={
        <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
          {t('csv.save')}
        </Button>
      }
    >
      {save.error && <Failed error={save.error} />}
      <SearchTable
        label={t('recipients.heading')}
        columns={columns}
        rows={recipients}
        search={filters}
        onSearch={(search, replace) => void navigate({ search: { ...search, ...(user !== undefined && { user }) }, replace })}
        searchLabel={t('recipients.search')}
        filters={[{ id: 'state', label: t('recipients.state'), values: MESSAGE_STATES.map((value) => ({ value, label: value })) }]}
        selected={recipients.data?.results.find((recipient) => recipient.user.external_id === user)?.id}
        empty={t('recipients.empty')}
      />
    </Card>
  )
}

function useColumns(onOpen: (userId: string) => void): SavedColumn<Recipient>[] {
  const { t } = useTranslation('campaigns')
  return [
    {
      id: 'user',
      label: t('recipients.user'),
      text: ({ user: { external_id, id } }) => external_id ?? t('recipients.erased', { id }),
      cell: ({ user: { external_id: userId, id } }) =>
        userId === null ? (
          <span className="quiet">{t('recipients.erased', { id })}</span>
        ) : (
          <button type="button" className="link" onClick={() => onOpen(userId)} aria-label={t('recipients.explain', { user: userId })}>
            {userId}
          </button>
        ),
    },
    { id: 'state', label: t('recipients.state'), text: ({ state }) => state, cell: ({ state }) => <Chip state={state} /> },
    {
      id: 'reason',
      label: t('recipients.reason'),
      text: ({ reason }) => reason,
      also: [{ label: t('csv.detail'), text: ({ detail }) => detail }],
      isWide: true,
      cell: ({ reason, detail }) =>
        reason && (
          <>
            <code>{reason}</code>
            {detail && <span className="r">{detail}</span>}
          </>
        ),
    },
    {
      id: 'when',
      label: t('recipients.when'),
      text: ({ settled_at, due_at }) => settled_at ?? due_at,
      also: [{ label: t('recipients.due'), text: ({ settled_at }) => t(settled_at === null ? 'rule.yes' : 'rule.no') }],
      isNumber: true,
      isExtra: true,
      cell: ({ settled_at, due_at }) => (
        <>
          <Time at={settled_at ?? due_at} />
          {settled_at === null && <span className="r">{t('recipients.due')}</span>}
        </>
      ),
    },
  ]
}
