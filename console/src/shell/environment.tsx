import { IconAppWindow, IconWorld } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { SessionProject } from '../session/api.ts'

/** The strip on top: whether messages leave this server. */
export function Environment({ project: { environment, has_faults } }: { project: SessionProject }) {
  const { t } = useTranslation()
  const isSandbox = environment === 'sandbox'
  const IconOf = isSandbox ? IconAppWindow : IconWorld
  return (
    <aside className={`env ${environment}`} aria-label={t('environment.label')}>
      <IconOf size={16} stroke={1.5} aria-hidden />
      <span>
        <b>{t(`environment.${environment}`)}</b> <span>{t(`environment.${environment}About`)}</span>{' '}
        {has_faults && <b>{t('environment.faults')}</b>}
      </span>
    </aside>
  )
}
