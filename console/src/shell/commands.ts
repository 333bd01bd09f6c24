import { useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { notice } from '../parts/notice.ts'
import { samplesOf } from '../parts/request-code.ts'
import { withoutSecrets } from '../parts/secrets.ts'
import type { ProjectRole, SessionProject } from '../session/api.ts'
import { atLeast, useSession } from '../session/index.ts'
import { lastWrite } from '../session/last-write.ts'
import { openShortcuts } from './shortcuts.tsx'
import { addressOf, useNav } from './use-nav.ts'

/** What can be begun from anywhere: the address where it is, and the role that it needs. */
const BEGUN: { id: string; path: string; search?: object; needs: ProjectRole | null }[] = [
  { id: 'campaign', path: 'campaigns/new', needs: 'editor' },
  { id: 'journey', path: 'journeys', search: { new: true }, needs: 'editor' },
  { id: 'list', path: 'lists/new', needs: 'editor' },
  { id: 'import', path: 'imports/new', needs: 'editor' },
  // Admins of the organisation.
  { id: 'project', path: 'settings', search: { view: 'organisation', new: true }, needs: null },
]

export type Command = { id: string; label: string; run: () => void }

/** What the palette offers: every screen that the member may open, and what the frame can do. */
export function useCommands(project: SessionProject): Command[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const { groups } = useNav(project)
  const { role } = useSession()
  const screens = groups.flatMap(({ items }) =>
    items.map((item) => ({ id: item.id, label: t(`nav.${item.id}`), run: () => void navigate({ to: addressOf(item, project) }) })),
  )
  const begun = BEGUN.filter(({ needs }) => (needs === null ? role !== 'member' : atLeast(project.role, needs))).map(
    ({ id, path, search = {} }) => ({
      id: `new-${id}`,
      label: t(`palette.new.${id}`),
      run: () => void navigate({ to: `/p/${project.id}/${path}`, search }),
    }),
  )
  const themes = (['light', 'dark', 'auto'] as const).map((scheme) => ({
    id: `theme-${scheme}`,
    label: t(`theme.${scheme}Command`),
    run: () => setColorScheme(scheme),
  }))
  const write = lastWrite()
  const copies = (write ? samplesOf(withoutSecrets(write), location.origin) : []).map(({ language, text }) => ({
    id: `last-write-${language}`,
    label: t('palette.lastWrite', { language }),
    run: () => void navigator.clipboard.writeText(text).then(() => notice(t('copiedAs', { language }))),
  }))
  return [
    ...screens,
    ...begun,
    { id: 'account', label: t('account.open'), run: () => void navigate({ to: '/account' }) },
    { id: 'shortcuts', label: t('shortcuts.open'), run: openShortcuts },
    { id: 'docs', label: t('palette.docs'), run: () => window.open('/docs', '_blank', 'noopener') },
    ...themes,
    ...copies,
  ]
}
