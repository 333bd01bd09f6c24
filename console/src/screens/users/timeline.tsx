import type { components } from '@carillon/sdk'
import { IconBolt, IconRoute } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'
import { iconOf } from '../../parts/channels.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { type Named, ObjectName } from '../../parts/object-name.tsx'
import { Card } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { clock, instant } from '../../parts/time.tsx'
import { SHOWN, type Shown } from './search.ts'
import { type Item, READ_AGAIN, SHOWN_MAX, shows, useItems } from './timeline-items.ts'

type Message = components['schemas']['MessageSummary']
type Entry = { key: string; at: string } & ({ kind: 'item'; item: Item } | { kind: 'message'; message: Message })

const route = getRouteApi('/member/p/$project/users/$userId')

/** What the user did, what was sent to them and what journeys did with them, in one stream, latest first. */
export function Timeline({ userId, zone }: { userId: string; zone: string }) {
  const { t, i18n } = useTranslation('users')
  const { show = 'all' } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/users/$userId' })
  const items = useItems(userId, show)
  const messages = useRead('/api/client/messages', { query: { user: userId, limit: SHOWN_MAX } }, READ_AGAIN)
  const error = items.error ?? messages.error
  const since = items.data?.since ?? null
  const entries = entriesOf(items.data?.rows ?? [], messages.data?.results ?? [], { show, since })
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
      footer={
        entries.length >= SHOWN_MAX || (since !== null && entries.length > 0) ? t('timeline.most', { count: entries.length }) : undefined
      }
    >
      {error && <Failed error={error} />}
      {items.isPending || messages.isPending ? (
        <Loading />
      ) : entries.length === 0 ? (
        <Empty>{since === null ? t('timeline.empty') : t('timeline.since', { at: instant(i18n.language, { at: since, zone }) })}</Empty>
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

/** The latest entries. Older than what was read of the events there would be gaps between the messages. */
function entriesOf(items: Item[], messages: Message[], { show, since }: { show: Shown; since: string | null }): Entry[] {
  const all: Entry[] = [
    ...items
      .filter((item) => shows(show, item))
      .map((item, index): Entry => ({ key: `${item.created_at}-${index}`, at: item.created_at, kind: 'item', item })),
    ...(show === 'all' || show === 'messages' ? messages : []).map(
      (message): Entry => ({ key: `message-${message.id}`, at: message.created_at, kind: 'message', message }),
    ),
  ]
  const from = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since)
  return all
    .filter(({ at }) => Date.parse(at) >= from)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, SHOWN_MAX)
}

const dayOf = (language: string, at: string, zone: string) =>
  new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: zone }).format(
    new Date(at),
  )

function EntryLine({ entry, zone }: { entry: Entry; zone: string }) {
  const { i18n } = useTranslation()
  const { at } = entry
  const IconOf = entry.kind === 'message' ? iconOf(entry.message.channel) : entry.item.kind === 'journey' ? IconRoute : IconBolt
  return (
    <li>
      <time dateTime={at} title={instant(i18n.language, { at, zone })}>
        {clock(i18n.language, { at, zone })}
      </time>
      <span className={`badge ${entry.kind === 'message' ? 'good' : ''}`}>
        <IconOf size={16} stroke={1.5} aria-hidden />
      </span>
      {entry.kind === 'message' ? (
        <MessageWords message={entry.message} />
      ) : entry.item.kind === 'journey' ? (
        <JourneyWords item={entry.item} />
      ) : (
        <EventWords item={entry.item} />
      )}
    </li>
  )
}

/** The members of events that Carillon writes which are the number of an object. */
const NUMBERED: Record<string, Named> = { list_id: 'list', journey_id: 'journey', campaign_id: 'campaign' }

function EventWords({ item: { name, data, source } }: { item: Item }) {
  const { t } = useTranslation('users')
  const members = Object.entries(data)
  return (
    <div>
      <b>{name}</b>
      {source === 'system' && <span className="r">{t('timeline.system')}</span>}
      {members.length > 0 && (
        <p className="facts">
          {members.map(([name, value]) => {
            const kind = source === 'system' && typeof value === 'number' && NUMBERED[name]
            return (
              <span key={name}>
                {kind ? t(`timeline.of.${kind}`) : name} {kind ? <ObjectName kind={kind} id={value} /> : <b>{JSON.stringify(value)}</b>}
              </span>
            )
          })}
        </p>
      )}
    </div>
  )
}

const MOMENTS = ['journey_entered', 'journey_ended', 'journey_held_out'] as const

function JourneyWords({ item: { name, data } }: { item: Item }) {
  const { t } = useTranslation('users')
  const moment = MOMENTS.find((one) => one === name)
  return (
    <div>
      <b>{data.outcome === 'exited' ? t('timeline.journey.exited') : moment ? t(`timeline.journey.${moment}`) : name}</b>
      <span className="r">
        <ObjectName kind="journey" id={Number(data.journey_id)} />
      </span>
    </div>
  )
}

function MessageWords({ message: { channel, state, reason, detail, recipient, campaign_id, id, opened_at } }: { message: Message }) {
  const { t } = useTranslation('users')
  return (
    <div>
      <span className="line">
        <b>{t(`channel.${channel}.message`)}</b> <Chip state={state} reason={reason} />
      </span>
      <span className="r">
        {recipient && `${recipient} · `}
        {campaign_id ? <ObjectName kind="campaign" id={campaign_id} /> : t('timeline.direct', { id })}
        {opened_at && ` · ${t('timeline.opened')}`}
      </span>
      {detail && <span className="r">{detail}</span>}
    </div>
  )
}
