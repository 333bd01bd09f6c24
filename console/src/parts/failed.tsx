import { CarillonError } from '@carillon/sdk'
import { Anchor, Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from './copy.tsx'
import { Sentence } from './sentence.tsx'

type Props = {
  error: unknown
  onRetry?: () => void
  /** What was kept in spite of the error. */
  kept?: string
  /** What can be done about it. */
  children?: ReactNode
}

/** Says what happened, what was kept and what to do, with the request id that the log has too. */
export function Failed({ error, onRetry, kept, children }: Props) {
  const { t } = useTranslation()
  const isKnown = error instanceof CarillonError
  return (
    <div className="say bad" role="alert">
      <IconAlertTriangle size={16} stroke={1.5} aria-hidden />
      <div>
        <p>
          <b>{isKnown ? t(`error.${error.code}`, { defaultValue: t('error.title') }) : t('error.title')}</b>
        </p>
        <p>
          <Sentence text={error instanceof Error ? error.message : String(error)} />
        </p>
        {kept && <p>{kept}</p>}
        {isKnown && error.requestId && (
          <p className="quiet xs">
            {t('error.request')} <code>{error.requestId}</code> <CopyButton value={error.requestId} label={t('error.copyRequest')} />
            {error.docUrl && (
              <>
                {' · '}
                <Anchor href={error.docUrl} inherit>
                  {t('error.docs')}
                </Anchor>
              </>
            )}
          </p>
        )}
        {onRetry && (
          <Button variant="default" size="xs" mt="xs" onClick={onRetry}>
            {t('retry')}
          </Button>
        )}
        {children}
      </div>
    </div>
  )
}
