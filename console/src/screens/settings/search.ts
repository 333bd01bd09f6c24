import type { components, Reply } from '@carillon/sdk'

export const VIEWS = ['project', 'sending', 'organisation'] as const
export type View = (typeof VIEWS)[number]

export type SettingsSearch = { view?: View }

/** What the address holds. */
export const settingsSearchOf = ({ view }: Record<string, unknown>): SettingsSearch =>
  view === 'sending' || view === 'organisation' ? { view } : {}

export type Project = components['schemas']['Project']
export type ProjectChanges = components['schemas']['ProjectChanges']
export type ProjectSize = components['schemas']['ProjectSizeReply']
export type Policy = Reply<typeof POLICY, 'get'>

export const PROJECT = '/api/client/projects/{projectId}'
export const PROJECT_SIZE = '/api/client/projects/{projectId}/size'
export const POLICY = '/api/client/sending-policy'
