import { changedMembers } from '../../parts/merge.ts'
import type { Policy, Project, ProjectChanges } from './search.ts'

/** The time zones that the browser knows. */
export const ZONES: string[] = [...Intl.supportedValuesOf('timeZone'), 'UTC']

/** The lines that say something. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const CHANGEABLE = [
  'name',
  'locale',
  'timezone',
  'description',
  'website_url',
  'text_opt_out_message',
  'text_help_message',
  'link_wrap_email',
  'link_wrap_push',
  'track_opens_email',
  'deeplink_mirror_url',
  'test_recipients',
] as const satisfies (keyof ProjectChanges & keyof Project)[]

/** The members that differ between two states of a project, so that a save leaves alone what another member has changed meanwhile. */
export const changesBetween = (from: Project, to: Project): ProjectChanges => changedMembers(changeable(from), changeable(to))

const changeable = (project: Project): ProjectChanges => Object.fromEntries(CHANGEABLE.map((name) => [name, project[name]]))

export type Cap = Policy['caps'][number]
export type QuietHours = NonNullable<Policy['quiet_hours']>

export const NEW_QUIET_HOURS: QuietHours = { channels: ['text', 'push'], from: '21:00', to: '08:00' }
export const NEW_CAP: Cap = { channels: ['email'], max: 3, window_hours: 7 * 24 }
