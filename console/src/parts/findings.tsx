import type { components } from '@carillon/sdk'
import { IconAlertTriangle, IconInfoCircle, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Sentence } from './sentence.tsx'

type Props = { findings: components['schemas']['SandboxMessageCheckReply']['findings'] }

const MARKS = { error: ['bad', IconX], warning: ['warn', IconAlertTriangle], info: ['info', IconInfoCircle] } as const

/** What the lints of the server found, as the lines of a list. */
export function Findings({ findings }: Props) {
  const { t } = useTranslation()
  return findings.map(({ kind, severity, message, param, line }) => {
    const [tone, Mark] = MARKS[severity]
    return (
      <li key={`${kind} ${param} ${line} ${message}`}>
        <span className={`badge ${tone}`}>
          <Mark size={16} stroke={1.5} aria-hidden />
        </span>
        <div>
          <span className="vh">{t(`severity.${severity}`)}</span>
          <Sentence text={message} />
          <code className="r">
            {param}
            {line !== undefined && `:${line}`}
          </code>
        </div>
      </li>
    )
  })
}
