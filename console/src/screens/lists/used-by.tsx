import { useTranslation } from 'react-i18next'
import { useReadAll } from '../../parts/data.ts'
import { Card } from '../../parts/page.tsx'
import { ROWS_MAX } from '../../parts/paging.ts'

const SLOWLY = { staleTime: 60_000 }

/** Whether a rule refers to a list. */
function refersTo(rule: unknown, listId: number): boolean {
  if (typeof rule !== 'object' || rule === null) return false
  if (Array.isArray(rule)) return rule.some((part) => refersTo(part, listId))
  return Object.entries(rule).some(([name, value]) => (name === 'list' ? value === listId : refersTo(value, listId)))
}

/** The campaigns and lists that use a list. */
export function UsedBy({ listId }: { listId: number }) {
  const { t } = useTranslation('lists')
  const { data: campaigns } = useReadAll('/api/client/campaigns', {}, SLOWLY)
  const { data: lists } = useReadAll('/api/client/lists', {}, SLOWLY)
  const used = [
    ...(campaigns ?? []).flatMap(({ id, name, list_ids, exclusion_list_ids }) => [
      ...(list_ids.includes(listId) ? [{ key: `to-${id}`, name, how: t('used.campaign') }] : []),
      ...(exclusion_list_ids.includes(listId) ? [{ key: `not-${id}`, name, how: t('used.exclusion') }] : []),
    ]),
    ...(lists ?? []).filter(({ rule }) => refersTo(rule, listId)).map(({ id, name }) => ({ key: `list-${id}`, name, how: t('used.list') })),
  ]
  const isCut = [campaigns, lists].some((read) => read?.length === ROWS_MAX)
  return (
    <Card title={t('used.heading')} footer={isCut && <span className="quiet xs">{t('used.cut', { count: ROWS_MAX })}</span>}>
      {used.length === 0 ? (
        <p className="pad quiet sm">{t('used.none')}</p>
      ) : (
        <ul className="lines">
          {used.map(({ key, name, how }) => (
            <li key={key}>
              <span>{name}</span>
              <span className="quiet">{how}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
