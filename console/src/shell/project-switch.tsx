import { Menu } from '@mantine/core'
import { IconCheck, IconChevronDown } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { SessionProject } from '../session/api.ts'
import { useSession } from '../session/index.ts'

/** Chooses another project. */
export function ProjectSwitch({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  const { projects, role } = useSession()
  return (
    <Menu position="bottom-start" width="target" withinPortal>
      <Menu.Target>
        <button type="button" className="switch">
          <span>
            <b>{project.name}</b>
            <small>{t(`environment.${project.environment}Project`)}</small>
          </span>
          <IconChevronDown size={16} stroke={1.5} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('projects')}</Menu.Label>
        {projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            component={Link}
            to={`/p/${id}`}
            rightSection={id === project.id ? <IconCheck size={14} aria-label={t('current')} /> : null}
          >
            {name}
          </Menu.Item>
        ))}
        {role !== 'member' && (
          <>
            <Menu.Divider />
            <Menu.Item
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/p/$project/settings"
                  params={{ project: String(project.id) }}
                  search={{ view: 'organisation', new: true }}
                />
              )}
            >
              {t('palette.new.project')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
