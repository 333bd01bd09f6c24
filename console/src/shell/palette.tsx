import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { IconArrowRight, IconSearch, IconUser } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../parts/data.ts'
import type { SessionProject } from '../session/api.ts'
import { useSession } from '../session/index.ts'
import { useCommands } from './commands.ts'

const [store, actions] = createSpotlight()

/** Opens the palette. */
export const openPalette = (): void => actions.open()

const TYPED_MS = 150
const SEARCHED_FROM = 2
const FOUND = 5

type Choice = { id: string; label: string; about?: string; run: () => void }

/** ⌘K: screens, commands, projects and users by what was typed. */
export function Palette({ project }: { project: SessionProject }) {
  const { t } = useTranslation()
  const [query, setQuery] = useState('')
  const found = useFound(project, query)
  const isEmpty = Object.values(found).every((choices) => choices.length === 0)
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      clearQueryOnClose
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search
        placeholder={t('palette.open')}
        aria-label={t('palette.open')}
        leftSection={<IconSearch size={16} stroke={1.5} />}
      />
      <Spotlight.ActionsList>
        {Object.entries(found).map(
          ([kind, choices]) =>
            choices.length > 0 && (
              <Spotlight.ActionsGroup key={kind} label={t(`palette.${kind}`)}>
                {choices.map(({ id, label, about, run }) => (
                  <Spotlight.Action
                    key={id}
                    label={label}
                    description={about}
                    onClick={run}
                    leftSection={kind === 'users' ? <IconUser size={16} stroke={1.5} /> : <IconArrowRight size={16} stroke={1.5} />}
                  />
                ))}
              </Spotlight.ActionsGroup>
            ),
        )}
        {isEmpty && <Spotlight.Empty>{t('palette.none')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

function useFound(project: SessionProject, query: string): Record<'commands' | 'projects' | 'users', Choice[]> {
  const navigate = useNavigate()
  const commands = useCommands(project)
  const { projects } = useSession()
  const words = query.trim().toLowerCase()
  const has = (label: string) => label.toLowerCase().includes(words)
  return {
    commands: commands.filter(({ label }) => has(label)),
    projects: projects
      .filter(({ id, name }) => words !== '' && id !== project.id && has(name))
      .map(({ id, name }) => ({ id: `project-${id}`, label: name, run: () => void navigate({ to: `/p/${id}` }) })),
    users: useUsers(project, query.trim()),
  }
}

function useUsers(project: SessionProject, query: string): Choice[] {
  const navigate = useNavigate()
  const [q] = useDebouncedValue(query, TYPED_MS)
  const { data } = useRead('/api/client/users', { query: { q, limit: FOUND } }, { enabled: q.length >= SEARCHED_FROM, keepsPrevious: true })
  if (q.length < SEARCHED_FROM) return []
  return (data?.results ?? []).map(({ id, external_id, anonymous_id, email }) => ({
    id: `user-${id}`,
    label: email ?? external_id ?? anonymous_id ?? String(id),
    ...(email && external_id && { about: external_id }),
    run: () => void navigate({ to: `/p/${project.id}/users/${encodeURIComponent(external_id ?? anonymous_id ?? '')}` }),
  }))
}
