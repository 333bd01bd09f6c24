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

/** Opens the palette, even before it is drawn for the first time. */
export const showPalette = (): void => actions.open()

const TYPED_MS = 150
const SEARCHED_FROM = 2

type Choice = { id: string; label: string; about?: string; run: () => void }

/** Finds screens, commands, projects, users and other objects by the typed text. */
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
      // The key acts before the palette is loaded.
      shortcut={null}
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
                    leftSection={id.startsWith('user-') ? <IconUser size={16} stroke={1.5} /> : <IconArrowRight size={16} stroke={1.5} />}
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

function useFound(project: SessionProject, query: string): Record<'commands' | 'projects' | 'found', Choice[]> {
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
    found: useNamed(project, query.trim()),
  }
}

/** Where the objects of each kind are, below the project. */
const PLACES = { user: 'users', campaign: 'campaigns', journey: 'journeys', list: 'lists', webhook: 'webhooks', domain: 'domains' } as const

/** Users and objects, by a part of their names. */
function useNamed(project: SessionProject, query: string): Choice[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [q] = useDebouncedValue(query, TYPED_MS)
  const { data } = useRead('/api/client/search', { query: { q } }, { enabled: q.length >= SEARCHED_FROM, keepsPrevious: true })
  if (q.length < SEARCHED_FROM) return []
  return (data?.results ?? []).map(({ type, id, name, detail }) => ({
    id: `${type}-${id}`,
    label: (type === 'user' && detail) || name,
    about: [t(`palette.kind.${type}`), type === 'user' ? detail && name : detail].filter(Boolean).join(' · '),
    run: () => void navigate({ to: `/p/${project.id}/${PLACES[type]}/${encodeURIComponent(id)}` }),
  }))
}
