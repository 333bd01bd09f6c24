import type { components } from '@carillon/sdk'
import { IconBolt } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'
import { CHANNEL_ICONS } from '../../parts/channel-icons.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { clock, instant } from '../../parts/time.tsx'
import { SHOWN, type Shown } from './search.ts'

type UserEvent = components['schemas']['UserEvent']
type Message = components['schemas']['MessageSummary']
type Entry = { key: string; at: string } & ({ kind: 'event'; event: UserEvent } | { kind: 'message'; message: Message })

const route = getRouteApi('/member/p/$project/users/$userId')

const SHOWN_MAX = 100
const READ_AGAIN = { refetchInterval: 5 * LIVE_MS }

/** What the user did and what was sent to them, in one stream, latest first. */
export function Timeline({ userId, zone }: { userId: string; zone: string }) {
  const { t, i18n } = useTranslation('users')
  const { show = 'all' } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/users/$userId' })
  const events = useRead('/api/client/users/{userId}/events', { path: { userId }, query: { limit: SHOWN_MAX } }, READ_AGAIN)
  const messages = useRead('/api/client/messages', { query: { user: userId, limit: SHOWN_MAX } }, READ_AGAIN)
  const error = events.error ?? messages.error
  const entries = entriesOf(events.data?.results ?? [], messages.data?.results ?? [], show)
  const days = Map.groupBy(entries, ({ at }) => dayOf(i18n.language, at, zone))
  return (
    <Card
      title={t('timeline.heading')}
      aside={t('timeline.zone', { zone })}
      actions={
        <TabBar
          isSmall
          label={t('timeline.show')}
          tabs={SHOWN.map((id) => ({ id, label: t(`timeline.${id}`) }))}
          current={show}
          onChange={(id) => void navigate({ search: id === 'all' ? {} : { show: id as Shown }, replace: true })}
        />
      }
      footer={entries.length >= SHOWN_MAX ? t('timeline.most', { count: entries.length }) : undefined}
    >
      {error && <Failed error={error} />}
      {events.isPending || messages.isPending ? (
        <Loading />
      ) : entries.length === 0 ? (
        <Empty>{t('timeline.empty')}</Empty>
      ) : (
        <div className="timeline">
          {[...days].map(([day, entries]) => (
            <Fragment key={day}>
              <h3>{day}</h3>
              <ol>
                {entries.map((entry) => (
                  <EntryLine key={entry.key} entry={entry} zone={zone} />
                ))}
              </ol>
            </Fragment>
          ))}
        </div>
      )}
    </Card>
  )
}

function entriesOf(events: UserEvent[], messages: Message[], show: Shown): Entry[] {
  const shownEvents = show === 'messages' ? [] : show === 'events' ? events : events.filter((event) => !isOfMessage(event))
  const all: Entry[] = [
    ...shownEvents.map(
      (event, index): Entry => ({ key: `event-${event.created_at}-${index}`, at: event.created_at, kind: 'event', event }),
    ),
    ...(show === 'events' ? [] : messages).map(
      (message): Entry => ({ key: `message-${message.id}`, at: message.created_at, kind: 'message', message }),
    ),
  ]
  return all.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, SHOWN_MAX)
}

/** The events that Carillon writes about a message say what the message says. */
const isOfMessage = ({ source, data }: UserEvent): boolean => source === 'system' && 'message_id' in data

const dayOf = (language: string, at: string, zone: string) =>
  new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: zone }).format(
    new Date(at),
  )

function EntryLine({ entry, zone }: { entry: Entry; zone: string }) {
  const { i18n } = useTranslation()
  const { at } = entry
  const IconOf = entry.kind === 'event' ? IconBolt : CHANNEL_ICONS[entry.message.channel]
  return (
    <li>
      <time dateTime={at} title={instant(i18n.language, { at, zone })}>
        {clock(i18n.language, { at, zone })}
      </time>
      <span className={`badge ${entry.kind === 'message' ? 'good' : ''}`}>
        <IconOf size={16} stroke={1.5} aria-hidden />
      </span>
      {entry.kind === 'event' ? <EventWords event={entry.event} /> : <MessageWords message={entry.message} />}
    </li>
  )
}

function EventWords({ event: { name, data, source } }: { event: UserEvent }) {
  const { t } = useTranslation('users')
  const members = Object.entries(data)
  return (
    <div>
      <b>{name}</b>
      {source === 'system' && <span className="r">{t('timeline.system')}</span>}
      {members.length > 0 && (
        <p className="facts">
          {members.map(([name, value]) => (
            <span key={name}>
              {name} <b>{JSON.stringify(value)}</b>
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

function MessageWords({ message: { channel, state, reason, detail, recipient, campaign_id, id, opened_at } }: { message: Message }) {
  const { t } = useTranslation('users')
  return (
    <div>
      <span className="line">
        <b>{t(`timeline.message.${channel}`)}</b> <Chip state={state} reason={reason} />
      </span>
      <span className="r">
        {recipient && `${recipient} · `}
        {campaign_id ? t('timeline.campaign', { id: campaign_id }) : t('timeline.direct', { id })}
        {opened_at && ` · ${t('timeline.opened')}`}
      </span>
      {detail && <span className="r">{detail}</span>}
    </div>
  )
}
