import { Drawer } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { SessionProject } from '../session/api.ts'
import { NavLink } from './nav-link.tsx'
import { ProjectSwitch } from './project-switch.tsx'
import { addressOf, useNav } from './use-nav.ts'

const TABS = 4

/** The navigation of narrow screens: four groups and the rest in a drawer. */
export function BottomTabs({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  const { groups, current } = useNav(project)
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <nav className="bottom" aria-label={t('nav.short')}>
        {groups.slice(0, TABS).map(({ id, icon: IconOf, items, isCurrent }) => (
          <NavLink key={id} to={items[0] ? addressOf(items[0], project) : '/'} aria-current={isCurrent ? 'page' : undefined}>
            <IconOf size={20} stroke={1.5} aria-hidden />
            {t(`nav.groups.${id}`)}
          </NavLink>
        ))}
        <button type="button" aria-haspopup="dialog" onClick={open}>
          <IconDots size={20} stroke={1.5} aria-hidden />
          {t('nav.more')}
        </button>
      </nav>
      <Drawer
        opened={isOpen}
        onClose={close}
        position="bottom"
        size="75%"
        title={t('nav.label')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <ProjectSwitch project={project} />
        <nav className="more" aria-label={t('nav.all')}>
          {groups.flatMap(({ id, items }) =>
            items.map((item) => (
              <NavLink
                key={item.id}
                className="n"
                to={addressOf(item, project)}
                onClick={close}
                aria-current={item === current ? 'page' : undefined}
              >
                {item.id === id ? t(`nav.groups.${id}`) : t(`nav.${item.id}`)}
              </NavLink>
            )),
          )}
        </nav>
      </Drawer>
    </>
  )
}
