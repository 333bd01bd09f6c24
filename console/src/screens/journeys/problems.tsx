import type { CarillonError } from '@carillon/sdk'
import { IconAlertTriangle, IconCheck, IconInfoCircle } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { keyOf } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { Sentence } from '../../parts/sentence.tsx'
import { useApi, useMay, useProject } from '../../session/project.tsx'
import type { Editing } from './editing.ts'
import { unreached } from './model/graph.ts'
import { PREVIEW, type Publication } from './search.ts'

type Problem = { param?: string; message: string }

export type Found = {
  faults: Problem[]
  warnings: Problem[]
  /** The keys of the steps that have a fault. */
  keys: ReadonlySet<string>
  of: (key: string) => Problem[]
  /** Whether the server was asked: that needs the role that publishes. */
  isChecked: boolean
  /** Whether the server has said what it found. */
  isKnown: boolean
  error: CarillonError | null
}

const stepOf = ({ param = '' }: Problem) => param.split('.')[0] ?? ''

/**
 * The problems that prevent a publication, as the server reports them for the saved draft; for members whose role cannot publish, the steps
 * that no way leads to.
 */
export function useProblems(journeyId: number, { graph, autosave, hasDraft }: Editing): Found {
  const { t } = useTranslation('journeys')
  const api = useApi()
  const { id } = useProject()
  const isChecked = useMay('publisher')
  const { data, error } = useQuery<Publication, CarillonError>({
    queryKey: keyOf(id, PREVIEW, { journeyId, graph }),
    queryFn: ({ signal }) => api.post(PREVIEW, { path: { journeyId }, body: {}, signal }),
    enabled: isChecked && hasDraft && autosave.state === 'saved' && Object.keys(graph).length > 0,
    placeholderData: keepPreviousData,
  })
  const checked = hasDraft ? data : undefined
  const own = isChecked ? [] : unreached(graph).map((key) => ({ param: key, message: t('problems.unreached', { key }) }))
  const faults = Object.keys(graph).length === 0 ? [] : (checked?.faults ?? own)
  return {
    faults,
    warnings: checked?.warnings ?? [],
    keys: new Set(faults.map(stepOf)),
    of: (key) => faults.filter((fault) => stepOf(fault) === key),
    isChecked,
    isKnown: checked !== undefined,
    error: hasDraft ? error : null,
  }
}

type Props = { problems: Found; editing: Editing; onOpen: (key: string) => void }

/** The problems that prevent a publication, and the warnings, each with its step. */
export function Problems({
  problems: { faults, warnings, isChecked, isKnown, error },
  editing: { graph, words, numbers, hasDraft },
  onOpen,
}: Props) {
  const { t } = useTranslation('journeys')
  if (Object.keys(graph).length === 0) return null
  const lines = [...faults.map((fault) => ({ ...fault, isFault: true })), ...warnings.map((warning) => ({ ...warning, isFault: false }))]
  return (
    <Card title={t('problems.heading')} aside={t('problems.count', { count: faults.length })}>
      {error && <Failed error={error} />}
      {!isChecked && <p className="pad quiet sm">{t('problems.unchecked')}</p>}
      {isChecked && !hasDraft && <p className="pad quiet sm">{t('problems.noDraft')}</p>}
      {lines.length === 0 && isKnown && (
        <p className="pad sm tg">
          <IconCheck size={14} stroke={1.75} aria-hidden /> {t('problems.none')}
        </p>
      )}
      <ul className="problems">
        {lines.map(({ param, message, isFault }) => {
          const step = graph[stepOf({ param: param ?? '', message })]
          const IconOf = isFault ? IconAlertTriangle : IconInfoCircle
          return (
            <li key={`${param} ${message}`}>
              <IconOf
                className={isFault ? 'tb' : 'ty'}
                size={16}
                stroke={1.5}
                aria-label={t(isFault ? 'problems.fault' : 'problems.warning')}
              />
              <span>
                <Sentence text={message} />
                {step && (
                  <button type="button" className="link sm" onClick={() => onOpen(stepOf({ param: param ?? '', message }))}>
                    {t('problems.open', { number: numbers.get(stepOf({ param: param ?? '', message })) ?? '–', title: words(step).title })}
                  </button>
                )}
              </span>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
