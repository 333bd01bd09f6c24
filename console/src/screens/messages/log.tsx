import type { components } from '@carillon/sdk'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { CHANNELS } from '../../parts/channels.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Filter } from '../../parts/filters.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { useLiveReads } from '../../parts/live/use-live.ts'
import { MESSAGE_STATES } from '../../parts/message-states.ts'
import { usePeriodFilter, useSince } from '../../parts/period.ts'
import { returnFocus } from '../../parts/return-focus.ts'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { MessageDrawer } from './drawer.tsx'
import './messages.css'
import { type Filters, FREE } from './search.ts'
import { type Sources, sourceName, useSourceFilters, useSources } from './sources.ts'

type Message = components['schemas']['MessageSummary']

const route = getRouteApi('/member/p/$project/messages')
const PATH = '/api/client/messages'

/** Where the focus returns when the drawer closes. */
const linkId = (id: number) => `message-${id}`

/** Every message of the project, those that were not sent included. */
export function MessageLog() {
  const { t } = useTranslation('messages')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/messages' })
  const { message, ...shown } = search
  const { period, ...rest } = shown
  const since = useSince(period)
  const sources = useSources()
  const query = { ...rest, ...(since && { since }), limit: 50 }
  useLiveReads('messages', PATH)
  // States change without a new message, so that it is read again in either case.
  const messages = useRead(PATH, { query }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  const close = () => {
    void navigate({ search: ({ message: _, ...others }) => others, replace: true })
    if (message !== undefined) returnFocus(linkId(message))
  }
  return (
    <ListPage
      texts="messages"
      request={{ path: PATH, query }}
      columns={useColumns(sources, message !== undefined)}
      rows={messages}
      search={shown}
      searchExample={t('searchExample')}
      filters={useFilters(sources, shown)}
      selected={message}
      beside={message !== undefined && <MessageDrawer key={message} id={message} onClose={close} />}
    />
  )
}

/** The filters with values to choose from, and of the others those that are set. */
function useFilters(sources: Sources, chosen: Filters): Filter[] {
  const { t } = useTranslation('messages')
  const ofSources = useSourceFilters(sources)
  const period = usePeriodFilter()
  const offered: Filter[] = [
    { id: 'state', label: t('filter.state'), values: MESSAGE_STATES.map((value) => ({ value, label: value })) },
    { id: 'channel', label: t('filter.channel'), values: CHANNELS.map((value) => ({ value, label: t(`channel.${value}.name`) })) },
    ...ofSources,
    period,
  ]
  const free = FREE.filter((id) => chosen[id] !== undefined && offered.every((one) => one.id !== id))
  return [...offered, ...free.map((id) => ({ id, label: t(`filter.${id}`), values: [] }))]
}

function useColumns(sources: Sources, isBeside: boolean): SavedColumn<Message>[] {
  const { t } = useTranslation('messages')
  const fromOf = ({ campaign_id, journey_id }: Message) =>
    journey_id === undefined ? t('campaign', { id: campaign_id }) : t('journey', { id: journey_id })
  const columns: SavedColumn<Message>[] = [
    {
      id: 'message',
      label: t('column.message'),
      text: ({ recipient, user }) => recipient ?? user.external_id ?? t('erased'),
      also: [
        { label: t('filter.channel'), text: ({ channel }) => t(`channel.${channel}.name`) },
        { label: t('csv.id'), text: ({ id }) => id },
      ],
      cell: ({ id, channel, recipient, user }) => (
        <>
          <Link id={linkId(id)} className="plain recipient" from="/p/$project/messages" search={(search) => ({ ...search, message: id })}>
            {recipient ?? user.external_id ?? t('erased')}
          </Link>
          <span className="r">
            {t(`channel.${channel}.name`)} · {id}
          </span>
        </>
      ),
    },
    {
      id: 'state',
      label: t('column.state'),
      text: ({ state }) => state,
      also: [{ label: t('filter.reason'), text: ({ reason }) => reason }],
      cell: ({ state, reason }) => <Chip state={state} reason={reason} />,
    },
    { id: 'user', label: t('column.user'), text: ({ user }) => user.external_id ?? t('erased'), isExtra: true },
    {
      id: 'from',
      label: t('column.from'),
      text: fromOf,
      also: [{ label: t('csv.name'), text: (message) => sourceName(sources, message) }],
      cell: (message) => <From name={sourceName(sources, message)} id={fromOf(message)} />,
      isExtra: true,
    },
    { id: 'provider', label: t('column.provider'), text: ({ provider }) => provider, isExtra: true },
    {
      id: 'at',
      label: t('column.at'),
      text: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
      isNumber: true,
      isWide: true,
    },
  ]
  return isBeside ? columns.filter(({ id }) => ['message', 'state', 'at'].includes(id)) : columns
}

const From = ({ name, id }: { name: string | null; id: string }) => (
  <>
    {name ?? id}
    {name !== null && <span className="r">{id}</span>}
  </>
)
