import type { CarillonError } from '@carillon/sdk'
import { IconAlertTriangle, IconCheck, IconInfoCircle, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Card } from '../../../parts/page.tsx'
import { Sentence } from '../../../parts/sentence.tsx'
import type { Preview } from './use-preview.ts'

const MARKS = { error: ['bad', IconX], warning: ['warn', IconAlertTriangle], info: ['info', IconInfoCircle] } as const
const KB = 1024

/** What is wrong with the template as it is now. */
export function Problems({ preview, error }: { preview: Preview | undefined; error: CarillonError | null }) {
  const { t, i18n } = useTranslation('campaigns')
  const findings = preview?.findings ?? []
  const size = preview && new Intl.NumberFormat(i18n.language).format(Math.ceil(preview.size_bytes / KB))
  return (
    <Card title={t('problems.heading')} aside={size && t('problems.size', { size })}>
      <ul className="checks" aria-live="polite">
        {error?.faults.map(({ message, param }) => (
          <li key={`${param} ${message}`}>
            <span className="badge bad">
              <IconX size={16} stroke={1.5} aria-hidden />
            </span>
            <div>
              <Sentence text={message} />
              <code className="r">{param}</code>
            </div>
          </li>
        ))}
        {findings.map(({ kind, severity, message, param, line }) => {
          const [tone, Mark] = MARKS[severity]
          return (
            <li key={`${kind} ${param} ${line} ${message}`}>
              <span className={`badge ${tone}`}>
                <Mark size={16} stroke={1.5} aria-hidden />
              </span>
              <div>
                <span className="vh">{t(`problems.${severity}`)}</span>
                <Sentence text={message} />
                <code className="r">
                  {param}
                  {line !== undefined && `:${line}`}
                </code>
              </div>
            </li>
          )
        })}
        {!error && preview && findings.length === 0 && (
          <li>
            <span className="badge good">
              <IconCheck size={16} stroke={1.5} aria-hidden />
            </span>
            <div>{t('problems.none')}</div>
          </li>
        )}
      </ul>
    </Card>
  )
}
