import { useTranslation } from 'react-i18next'
import { instant } from '../../parts/time.tsx'
import type { Editing } from './editing.ts'

type Visit = {
  visit: number
  step: string
  arrived_at: string
  left_at: string | null
  path: string | null
  sentence: string
  seen: object
}

/** The steps that a user reached, each with its decision, the reason, and the time. */
export function Visits({ visits, editing: { graph, words, numbers } }: { visits: readonly Visit[]; editing: Editing }) {
  const { t, i18n } = useTranslation('journeys')
  if (visits.length === 0) return <p className="pad quiet sm">{t('visits.none')}</p>
  return (
    <ol className="visits">
      {visits.map(({ visit, step, arrived_at, left_at, path, sentence, seen }) => (
        <li key={visit}>
          <b>
            {numbers.get(step)} {graph[step] ? words(graph[step]).title : step}
          </b>{' '}
          {path !== null && path !== 'default' && <code>{path}</code>}
          <small>{sentence}</small>
          <small>
            {instant(i18n.language, { at: arrived_at })}
            {left_at === null && ` · ${t('visits.here')}`}
          </small>
          {Object.keys(seen).length > 0 && <small className="mono">{JSON.stringify(seen)}</small>}
        </li>
      ))}
    </ol>
  )
}
