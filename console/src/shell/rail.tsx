import { useTranslation } from 'react-i18next'
import { Bell } from '../parts/bell.tsx'
import type { SessionProject } from '../session/api.ts'
import { Health } from './health.tsx'
import { NavLink } from './nav-link.tsx'
import { ProjectSwitch } from './project-switch.tsx'
import { addressOf, type ShownGroup, useNav } from './use-nav.ts'

/** The navigation at the left. Only the group of the open screen shows its items. */
export function Rail({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  const { groups, current } = useNav(project)
  return (
    <nav className="rail" aria-label={t('nav.label')}>
      <NavLink className="brand" to={`/p/${project.id}`}>
        <Bell />
        Carillon
      </NavLink>
      <ProjectSwitch project={project} />
      {groups.map((group) => (
        <RailGroup key={group.id} group={group} project={project} currentId={current?.id} />
      ))}
      <Health />
    </nav>
  )
}

function RailGroup({ group, project, currentId }: { group: ShownGroup; project: SessionProject; currentId: string | undefined }) {
  const { t } = useTranslation()
  const { icon: IconOf, items, isCurrent } = group
  const [first] = items
  if (!first) return null
  const isSingle = items.length === 1 && first.id === group.id
  const isOpen = isCurrent && !isSingle
  return (
    <>
      <NavLink className="n" to={addressOf(first, project)} aria-current={isCurrent && isSingle ? 'page' : undefined}>
        <IconOf size={16} stroke={1.5} aria-hidden />
        {t(`nav.groups.${group.id}`)}
      </NavLink>
      {isOpen &&
        items.map((item) => (
          <NavLink key={item.id} className="n sub" to={addressOf(item, project)} aria-current={item.id === currentId ? 'page' : undefined}>
            {t(`nav.${item.id}`)}
          </NavLink>
        ))}
    </>
  )
}
