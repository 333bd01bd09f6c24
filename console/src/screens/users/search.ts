/** What the timeline of a user shows. */
export const SHOWN = ['all', 'events', 'messages', 'journeys'] as const
export type Shown = (typeof SHOWN)[number]
