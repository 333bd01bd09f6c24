import type { CarillonError } from '@carillon/sdk'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Findings } from '../../../parts/findings.tsx'
import { Card } from '../../../parts/page.tsx'
import { Sentence } from '../../../parts/sentence.tsx'
import type { Preview } from './use-preview.ts'

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
        <Findings findings={findings} />
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
