import { useTranslation } from 'react-i18next'
import { TabBar } from '../../parts/tabs.tsx'

export type View = 'list' | 'calendar'

/** Campaigns as a list or by day. */
export function ViewSwitch({ view, onView }: { view: View; onView: (view: View) => void }) {
  const { t } = useTranslation('campaigns')
  return (
    <TabBar
      label={t('view.label')}
      isSmall
      tabs={(['list', 'calendar'] as const).map((id) => ({ id, label: t(`view.${id}`) }))}
      current={view}
      onChange={(id) => onView(id as View)}
    />
  )
}
