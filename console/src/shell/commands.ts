import { useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { SessionProject } from '../session/api.ts'
import { openShortcuts } from './shortcuts.tsx'
import { addressOf, useNav } from './use-nav.ts'

export type Command = { id: string; label: string; run: () => void }

/** What the palette offers: every screen that the member may open, and what the frame can do. */
export function useCommands(project: SessionProject): Command[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const { groups } = useNav(project)
  const screens = groups.flatMap(({ items }) =>
    items.map((item) => ({ id: item.id, label: t(`nav.${item.id}`), run: () => void navigate({ to: addressOf(item, project) }) })),
  )
  const themes = (['light', 'dark', 'auto'] as const).map((scheme) => ({
    id: `theme-${scheme}`,
    label: t(`theme.${scheme}Command`),
    run: () => setColorScheme(scheme),
  }))
  return [
    ...screens,
    { id: 'account', label: t('account.open'), run: () => void navigate({ to: '/account' }) },
    { id: 'shortcuts', label: t('shortcuts.open'), run: openShortcuts },
    { id: 'docs', label: t('palette.docs'), run: () => window.open('/docs', '_blank', 'noopener') },
    ...themes,
  ]
}
