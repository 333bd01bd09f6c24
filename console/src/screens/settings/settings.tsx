import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { useProject } from '../../session/project.tsx'
import { Organisation } from './organisation.tsx'
import { ProjectSettings } from './project.tsx'
import { POLICY, PROJECT, VIEWS, type View } from './search.ts'
import { Sending } from './sending.tsx'

const route = getRouteApi('/member/p/$project/settings')

/** The settings of the project and of the organisation. */
export function Settings() {
  const { t } = useTranslation('settings')
  const { view = 'project', new: isCreating = false } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/settings' })
  const { id, name } = useProject()
  const request = { method: 'GET', path: view === 'sending' ? POLICY : PROJECT.replace('{projectId}', String(id)) } as const
  return (
    <>
      <PageHead title={t('title')} about={t('about', { name })} actions={<CopyAs label={t('more')} request={request} />} />
      <TabBar
        label={t('views')}
        tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
        current={view}
        onChange={(id) => void navigate({ search: id === 'project' ? {} : { view: id as View } })}
      />
      <div className="after">
        {view === 'project' && <ProjectSettings key={id} />}
        {view === 'sending' && <Sending key={id} />}
        {view === 'organisation' && (
          <Organisation
            isCreating={isCreating}
            onCreating={(isNew) => void navigate({ search: { view, ...(isNew && { new: true }) }, replace: true })}
          />
        )}
      </div>
    </>
  )
}
