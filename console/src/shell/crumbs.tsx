import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useTitle } from '../parts/title.ts'
import type { SessionProject } from '../session/api.ts'
import { addressOf, useNav } from './use-nav.ts'

/** Group, screen and object. The last one is the heading of the page. */
export function Crumbs({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  const { groups, current } = useNav(project)
  const title = useTitle()
  const group = groups.find(({ isCurrent }) => isCurrent)
  const name = current ? t(`nav.${current.id}`) : undefined
  const isInside = name !== undefined && title !== undefined && title.crumb !== undefined
  return (
    <nav className="crumbs" aria-label={t('breadcrumb')}>
      <span className="hide-s">{group && group.id !== current?.id ? t(`nav.groups.${group.id}`) : project.name}</span>
      <span className="hide-s" aria-hidden>
        /
      </span>
      {isInside && current ? (
        <>
          <Link to={addressOf(current, project)}>{name}</Link>
          <span aria-hidden>/</span>
          <b>{title.crumb}</b>
        </>
      ) : (
        <b>{name ?? title?.text}</b>
      )}
    </nav>
  )
}
