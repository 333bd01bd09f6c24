import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import { comparedLines } from '../../../parts/lines.ts'
import { Loading } from '../../../parts/loading.tsx'
import { isSame } from '../../../parts/merge.ts'
import { Card } from '../../../parts/page.tsx'
import { Time } from '../../../parts/time.tsx'
import type { Template } from './channels/channel.ts'
import { type Place, TEMPLATE_VERSION, TEMPLATE_VERSIONS } from './template.ts'

type Props = {
  campaignId: number
  place: Place
  draft: Template
  /** Absent for those who may not write. */
  onRestore: ((version: number, template: Template) => void) | undefined
}

/** The earlier versions of the template: who saved each, how it differs from the content of the editor, and a button to restore it. */
export function Versions({ campaignId, place: { locale, variant }, draft, onRestore }: Props) {
  const { t } = useTranslation('campaigns')
  const [open, setOpen] = useState<number>()
  const { data, error, refetch } = useRead(TEMPLATE_VERSIONS, { path: { campaignId, locale }, query: { variant } })
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    <Card title={t('versions.heading')}>
      <ol className="versions" reversed>
        {data.results.map(({ number, saved_at, saved_by }) => (
          <li key={number}>
            <div className="acts">
              <span>
                <b>{t('versions.number', { number })}</b> <Time at={saved_at} />
                {saved_by && <span className="r">{saved_by.name ?? t(`versions.by.${saved_by.type}`)}</span>}
              </span>
              <Button
                size="xs"
                variant="default"
                aria-expanded={open === number}
                aria-label={t('versions.compareWith', { number })}
                onClick={() => setOpen(open === number ? undefined : number)}
              >
                {t('versions.compare')}
              </Button>
            </div>
            {open === number && (
              <Compared path={{ campaignId, locale, version: number }} variant={variant} draft={draft} onRestore={onRestore} />
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}

type ComparedProps = Pick<Props, 'draft' | 'onRestore'> & {
  path: { campaignId: number; locale: string; version: number }
  variant: Place['variant']
}

/** The members of a version that differ from the draft, line by line. */
function Compared({ path, variant, draft, onRestore }: ComparedProps) {
  const { t } = useTranslation('campaigns')
  const { data, error } = useRead(TEMPLATE_VERSION, { path, query: { variant } }, { staleTime: 0 })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  const version = data.data as Template
  const names = [...new Set([...Object.keys(version), ...Object.keys(draft)])].filter((name) => !isSame(version[name], draft[name]))
  if (names.length === 0) return <p className="sm quiet">{t('versions.same')}</p>
  return (
    <>
      {names.map((name) => (
        <Difference key={name} name={name} before={textOf(version[name])} after={textOf(draft[name])} />
      ))}
      {onRestore && (
        <Button size="xs" variant="default" onClick={() => onRestore(path.version, version)}>
          {t('versions.restore', { number: path.version })}
        </Button>
      )}
    </>
  )
}

const textOf = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2))

function Difference({ name, before, after }: { name: string; before: string; after: string }) {
  const { t } = useTranslation('campaigns')
  const lines = comparedLines(before, after)
  return (
    <section className="difference" aria-label={name}>
      <h3 className="mono">{name}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <pre className="lines mono" dir="auto" tabIndex={0}>
        {lines.map(({ is, text }, index) => {
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place.
          if (is === 'left') return <del key={index}>{text || ' '}</del>
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place.
          if (is === 'new') return <ins key={index}>{text || ' '}</ins>
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place.
          return <span key={index}>{is === 'skipped' ? t('versions.skipped', { count: Number(text) }) : text || ' '}</span>
        })}
      </pre>
    </section>
  )
}
