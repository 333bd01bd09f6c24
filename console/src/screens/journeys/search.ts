import type { components } from '@carillon/sdk'
import type { ArchivedSearch } from '../../parts/archived-search.ts'
import type { ListSearch } from '../../parts/paging.ts'
import type { FieldSchema } from '../../parts/schema-fields.ts'

export type Journey = components['schemas']['Journey']
export type Statistics = components['schemas']['JourneyStatistics']
export type JourneyUser = components['schemas']['JourneyUser']
export type Publication = components['schemas']['JourneyPublication']

/** A kind of step, as `GET /journeys/meta` describes it. */
export type Kind = Omit<components['schemas']['JourneyMeta']['steps'][string], 'settings'> & { settings: FieldSchema }
export type Meta = { settings: FieldSchema; steps: Record<string, Kind> }

export const JOURNEYS = '/api/client/journeys'
export const JOURNEY = '/api/client/journeys/{journeyId}'
export const STEPS = '/api/client/journeys/{journeyId}/steps'
export const VERSIONS = '/api/client/journeys/{journeyId}/versions'
export const PREVIEW = '/api/client/journeys/{journeyId}/publish/preview'

/** The views of a journey. */
export const VIEWS = ['build', 'settings', 'users', 'simulate', 'backtest', 'versions'] as const
export type View = (typeof VIEWS)[number]

/** How the steps are shown. */
export const SHAPES = ['canvas', 'outline'] as const
export type Shape = (typeof SHAPES)[number]

/** The states of users, in the order in which a filter offers them. */
export const USER_STATES = ['inside', 'parked', 'completed', 'exited', 'held_out'] as const
export type UserState = (typeof USER_STATES)[number]

/** The address of the list: its search and page, and whether a new journey is being named. */
export type JourneysSearch = ArchivedSearch & { new?: true }

/** The address of a journey: its view, the step that is open or filtered by, what its table of users shows, and the backtest. */
export type JourneySearch = ListSearch & { view?: View; shape?: Shape; step?: string; state?: UserState; user?: string; backtest?: number }
