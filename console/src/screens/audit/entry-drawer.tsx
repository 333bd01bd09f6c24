import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { instant } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { changesOf, type Entry } from './changes.ts'

/** An entry beside the log: its change, its actor and its request. */
export function EntryDrawer({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const { t } = useTranslation('audit')
  return (
    <Drawer label={t('entry.label', { position: entry.position })} heading={<code>{entry.action}</code>} isRead onClose={onClose}>
      <Facts entry={entry} />
      <Changes entry={entry} />
      {entry.details && (
        <div className="pad">
          <h3 className="sm">{t('entry.details')}</h3>
          <Code text={JSON.stringify(entry.details, null, 2)} />
        </div>
      )}
    </Drawer>
  )
}

function Facts({ entry: { object, actor, via, request_id, created_at } }: { entry: Entry }) {
  const { t, i18n } = useTranslation('audit')
  const { timezone: zone } = useProject()
  return (
    <dl className="kv pad">
      <dt>{t('entry.object')}</dt>
      <dd>
        {object.id === null ? (
          object.type
        ) : (
          <Link from="/p/$project/audit" search={{ object_type: object.type, object_id: object.id }}>
            {object.name ?? `${object.type} ${object.id}`}
          </Link>
        )}
      </dd>
      <dt>{t('column.actor')}</dt>
      <dd>
        {actor.id === null ? (
          t(`actor.${actor.type}`)
        ) : (
          <Link from="/p/$project/audit" search={{ actor_type: actor.type, actor_id: String(actor.id) }}>
            {actor.name ?? `${t(`actor.${actor.type}`)} ${actor.id}`}
          </Link>
        )}
      </dd>
      <dt>{t('column.via')}</dt>
      <dd>{t(`via.${via}`)}</dd>
      <dt>{t('column.at')}</dt>
      <dd>{instant(i18n.language, { at: created_at, zone })}</dd>
      {request_id && (
        <>
          <dt>{t('entry.request')}</dt>
          <dd>
            <code>{request_id}</code>
          </dd>
        </>
      )}
    </dl>
  )
}

/** The values that differ, the old above the new. */
function Changes({ entry: { before, after } }: { entry: Entry }): ReactNode {
  const { t } = useTranslation('audit')
  const changes = changesOf(before, after)
  if (changes.length === 0) return null
  return (
    <dl className="changes" aria-label={t('entry.changes')}>
      {changes.map(({ path, before, after }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          <dd dir="auto">
            {before !== undefined && (
              <del>
                <span className="vh">{t('entry.before')} </span>
                {before}
              </del>
            )}
            {after !== undefined && (
              <ins>
                <span className="vh">{t('entry.after')} </span>
                {after}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
