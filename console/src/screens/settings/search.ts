import type { components, Reply } from '@carillon/sdk'

export const VIEWS = ['project', 'sending', 'organisation'] as const
export type View = (typeof VIEWS)[number]

/** The view, and in that of the organisation whether a new project is being named. */
export type SettingsSearch = { view?: View; new?: true }

/** Reads the search parameters of the URL. */
export const settingsSearchOf = ({ view, new: isNew }: Record<string, unknown>): SettingsSearch =>
  view === 'sending' || view === 'organisation' ? { view, ...(view === 'organisation' && isNew === true && { new: isNew }) } : {}

export type Project = components['schemas']['Project']
export type ProjectChanges = components['schemas']['ProjectChanges']
export type ProjectSize = components['schemas']['ProjectSizeReply']
export type Policy = Reply<typeof POLICY, 'get'>

export const PROJECT = '/api/client/projects/{projectId}'
export const PROJECT_SIZE = '/api/client/projects/{projectId}/size'
export const POLICY = '/api/client/sending-policy'
