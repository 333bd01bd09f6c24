import { JsonInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useEdited } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { useAttributes, useMeta } from '../../parts/rules/data.ts'
import { RuleEditor } from '../../parts/rules/group.tsx'
import { type Draft, groupOf, inGroup, isComplete, type Meta } from '../../parts/rules/rule.ts'
import { TabBar } from '../../parts/tabs.tsx'
import { useProject } from '../../session/project.tsx'
import { type Preview, usePreview } from './data.ts'
import './lists.css'
import { Sentence } from './sentence.tsx'

const VIEWS = ['rules', 'json'] as const

type Props = { rule: Draft; onChange: (rule: Draft) => void; children?: ReactNode }

/**
 * The rule of a dynamic list: as a sentence, as fields or JSON, with the users who match it. `children` are shown below the number of
 * users.
 */
export function Builder({ rule, onChange, children }: Props) {
  const { t } = useTranslation('lists')
  const { data: meta, error, refetch } = useMeta()
  const preview = usePreview(rule)
  const [view, setView] = useState<(typeof VIEWS)[number]>('rules')
  if (error && !meta) return <Failed error={error} onRetry={() => void refetch()} />
  if (!meta) return <Loading />
  const shown = inGroup(rule, meta)
  const counts = new Map(preview.data?.conditions.map((condition) => [inShown(condition.path, rule, meta), condition]))
  const words = new Map([...counts].map(([path, { description }]) => [path, description]))
  return (
    <div className="cols main-side builder">
      <div className="stack">
        <Card className="pad">
          <Sentence rule={shown} meta={meta} words={words} />
        </Card>
        <Card
          title={t('rules')}
          actions={
            <TabBar
              isSmall
              label={t('views')}
              tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
              current={view}
              onChange={(id) => setView(id as typeof view)}
            />
          }
        >
          {preview.error && isComplete(rule) && <Failed error={preview.error} />}
          {view === 'rules' ? (
            <>
              <p className="rules-head quiet xs">
                <span>{t('conditions')}</span>
                <span>{t('alone')}</span>
              </p>
              <RuleEditor rule={shown} meta={meta} path="rule" level={1} counts={counts} onChange={onChange} />
            </>
          ) : (
            <Json rule={rule} onChange={onChange} />
          )}
        </Card>
        {preview.data && <Sample preview={preview.data} />}
      </div>
      <div className="stack">
        <Matched preview={isComplete(rule) ? preview.data : undefined} isOld={preview.isFetching} />
        {children}
      </div>
    </div>
  )
}

/** The path of a condition in the rule as it is drawn. */
const inShown = (path: string, rule: Draft, meta: Meta) => (groupOf(rule, meta) === undefined ? path.replace('rule', 'rule.all[0]') : path)

/** In-app messages and requests need nothing of a user. */
const isKnown = ({ channel }: Preview['reach'][number]) => channel === 'email' || channel === 'text' || channel === 'push'

function Matched({ preview, isOld }: { preview: Preview | undefined; isOld: boolean }) {
  const { t } = useTranslation('lists')
  const { users } = useAttributes()
  return (
    <Card title={t('matched.heading')}>
      <div className="pad" aria-busy={isOld}>
        <p className="big">
          {preview ? <Num value={preview.count} /> : '–'} <small>{t('matched.users', { count: preview?.count ?? 0 })}</small>
        </p>
        <p className="quiet sm">
          {preview && users !== undefined && <Rate part={Math.min(preview.count, users)} whole={users} />}
          {preview ? ` · ${t(preview.sampled ? 'matched.estimate' : 'matched.exact')}` : t('matched.incomplete')}
        </p>
        {preview && (
          <table className="reach-of" aria-label={t('reach.heading')}>
            <caption className="quiet xs">{t('reach.heading')}</caption>
            <tbody>
              {preview.reach.filter(isKnown).map(({ channel, count }) => (
                <tr key={channel}>
                  <th scope="row">{t(`reach.${channel}`)}</th>
                  <td className="num">
                    <Rate part={count} whole={preview.count} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Card>
  )
}

function Sample({ preview: { users, count } }: { preview: Preview }) {
  const { t } = useTranslation('lists')
  const project = String(useProject().id)
  return (
    <Card title={t('sample.heading')} aside={t('sample.of', { count: users.length, total: count })}>
      {users.length === 0 ? (
        <p className="pad quiet sm">{t('sample.none')}</p>
      ) : (
        <table className="rows" aria-label={t('sample.heading')}>
          <tbody>
            {users.map(({ id, external_id, email, phone, data }) => (
              <tr key={id}>
                <th scope="row">
                  <Link className="plain" to="/p/$project/users/$userId" params={{ project, userId: external_id }}>
                    {external_id}
                  </Link>
                </th>
                <td className="wide">{email ?? phone ?? ''}</td>
                <td className="hide-s facts-line">{JSON.stringify(data)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

function Json({ rule, onChange }: { rule: Draft; onChange: (rule: Draft) => void }) {
  const { t } = useTranslation('lists')
  const { edited: text, edit, give } = useEdited(rule, (rule) => JSON.stringify(rule, null, 2))
  const change = (next: string) => {
    edit(next)
    const value = parsed(next)
    if (!value) return
    give(value)
    onChange(value)
  }
  return (
    <div className="pad">
      <JsonInput
        label={t('json')}
        autosize
        minRows={8}
        maxRows={24}
        value={text}
        onChange={change}
        error={parsed(text) ? undefined : t('form.json')}
      />
    </div>
  )
}

function parsed(text: string): Draft | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : null
  } catch {
    return null
  }
}
