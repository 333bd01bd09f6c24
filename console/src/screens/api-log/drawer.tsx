import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { instant } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { Result } from './result.tsx'
import { againOf, hasGaps, type Logged, pathOf } from './shown.ts'

/** A request beside the log: its parameters, its result, and the code to run it again. */
export function RequestDrawer({ request, onClose }: { request: Logged; onClose: () => void }) {
  const { t } = useTranslation('api-log')
  const { method, query, body } = request
  return (
    <Drawer
      label={t('request.label', { id: request.id })}
      heading={
        <code>
          {method} {pathOf(request)}
        </code>
      }
      isRead
      state={<Result request={request} />}
      actions={<CopyAs label={t('request.again')} request={againOf(request)} />}
      onClose={onClose}
    >
      <Facts request={request} />
      {Object.keys(query).length > 0 && <Part name={t('request.query')} value={query} />}
      {body !== null && <Part name={t('request.body')} value={body} />}
      {hasGaps(request) && <p className="pad r">{t('request.gaps')}</p>}
    </Drawer>
  )
}

const Part = ({ name, value }: { name: string; value: unknown }) => (
  <div className="pad">
    <h3 className="sm">{name}</h3>
    <Code text={JSON.stringify(value, null, 2)} />
  </div>
)

function Facts({ request: { actor, via, param, elapsed_ms, request_id, original_request, created_at } }: { request: Logged }) {
  const { t, i18n } = useTranslation('api-log')
  const { timezone: zone } = useProject()
  const isFilter = actor.id !== null && actor.type !== 'system'
  return (
    <dl className="kv pad">
      <dt>{t('column.actor')}</dt>
      <dd>
        {isFilter ? (
          <Link from="/p/$project/api-log" search={{ actor_type: actor.type as 'key' | 'member', actor_id: String(actor.id) }}>
            {actor.name ?? `${t(`actor.${actor.type}`)} ${actor.id}`}
          </Link>
        ) : (
          t(`actor.${actor.type}`)
        )}
      </dd>
      <dt>{t('column.via')}</dt>
      <dd>{t(`via.${via}`)}</dd>
      {param !== null && (
        <>
          <dt>{t('request.param')}</dt>
          <dd>
            <code>{param}</code>
          </dd>
        </>
      )}
      <dt>{t('column.elapsed')}</dt>
      <dd>{t('milliseconds', { count: elapsed_ms })}</dd>
      <dt>{t('column.at')}</dt>
      <dd>{instant(i18n.language, { at: created_at, zone })}</dd>
      <dt>{t('request.id')}</dt>
      <dd>
        <code>{request_id}</code>
      </dd>
      {original_request !== null && (
        <>
          <dt>{t('request.original')}</dt>
          <dd>
            <Link from="/p/$project/api-log" search={{ q: original_request }}>
              <code>{original_request}</code>
            </Link>
          </dd>
        </>
      )}
    </dl>
  )
}
