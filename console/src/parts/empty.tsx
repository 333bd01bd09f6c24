import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

type Props = {
  /** What it is, in one sentence. */
  children: ReactNode
  /** One primary button, then sample data, then one link. */
  actions?: ReactNode
}

/** Shown where a table or a list has nothing to show yet. */
export function Empty({ children, actions }: Props) {
  return (
    <div className="empty">
      <p>{children}</p>
      {actions && <div className="acts">{actions}</div>}
    </div>
  )
}

/** Shown where no row matches the filters. */
export function NoMatch({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation()
  return (
    <div className="empty">
      <p>{t('noMatch')}</p>
      <div className="acts">
        <Button variant="default" onClick={onClear}>
          {t('clearFilters')}
        </Button>
      </div>
    </div>
  )
}
