/** The rail: its groups and their screens, in order. A screen appears with its line here. */
import {
  type Icon,
  IconAdjustmentsHorizontal,
  IconChartBar,
  IconCode,
  IconHome,
  IconMail,
  IconShield,
  IconUsers,
} from '@tabler/icons-react'
import type { ProjectRole } from '../session/api.ts'

export type Item = {
  /** The key of its name in the texts, below `nav`. */
  id: string
  /** Below `/p/$project`. */
  path: `/p/$project${string}`
  /** Hidden from members with a lower role. */
  needs?: ProjectRole
  /** Shown to owners of the organisation only. */
  isForOwners?: true
  /** The second key of `g …`. */
  key?: string
}

export type Group = { id: string; icon: Icon; items: Item[] }

export const NAV: Group[] = [
  { id: 'home', icon: IconHome, items: [{ id: 'home', path: '/p/$project', key: 'h' }] },
  {
    id: 'users',
    icon: IconUsers,
    items: [
      { id: 'users', path: '/p/$project/users', key: 'u' },
      { id: 'lists', path: '/p/$project/lists', key: 'l' },
      { id: 'imports', path: '/p/$project/imports' },
      { id: 'schema', path: '/p/$project/schema' },
    ],
  },
  {
    id: 'messages',
    icon: IconMail,
    items: [
      { id: 'campaigns', path: '/p/$project/campaigns', key: 'c' },
      { id: 'journeys', path: '/p/$project/journeys', key: 'j' },
      { id: 'templates', path: '/p/$project/templates', key: 't' },
    ],
  },
  {
    id: 'results',
    icon: IconChartBar,
    items: [
      { id: 'reports', path: '/p/$project/reports', key: 'r' },
      { id: 'messageLog', path: '/p/$project/messages', key: 'm' },
    ],
  },
  {
    id: 'developers',
    icon: IconCode,
    items: [
      { id: 'sandbox', path: '/p/$project/sandbox', key: 'i' },
      { id: 'apiLog', path: '/p/$project/api-log', needs: 'admin' },
      { id: 'keys', path: '/p/$project/keys', needs: 'admin', key: 'k' },
      { id: 'webhooks', path: '/p/$project/webhooks', key: 'w' },
      { id: 'tools', path: '/p/$project/tools' },
    ],
  },
  {
    id: 'deliverability',
    icon: IconShield,
    items: [
      { id: 'domains', path: '/p/$project/domains', key: 'd' },
      { id: 'mailQueue', path: '/p/$project/mail-queue' },
      { id: 'suppressions', path: '/p/$project/suppressions' },
    ],
  },
  {
    id: 'settings',
    icon: IconAdjustmentsHorizontal,
    items: [
      { id: 'providers', path: '/p/$project/providers', needs: 'admin' },
      { id: 'subscriptions', path: '/p/$project/subscriptions' },
      { id: 'preferencePage', path: '/p/$project/preference-page' },
      { id: 'team', path: '/p/$project/team' },
      { id: 'audit', path: '/p/$project/audit', needs: 'admin' },
      { id: 'settings', path: '/p/$project/settings' },
      { id: 'system', path: '/p/$project/system', isForOwners: true },
    ],
  },
]
