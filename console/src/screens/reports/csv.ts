import { csvOf } from '../../parts/csv.ts'
import { FIGURES, type Report } from './search.ts'

const COUNTED = ['messages', ...FIGURES] as const

/** The days of a report, one row for each. */
export const csvOfDays = ({ days }: Report): string =>
  csvOf([['day', ...COUNTED], ...days.map((day) => [day.day, ...COUNTED.map((name) => day[name])])])

/** The journeys of a report, one row for each. */
export const csvOfJourneys = ({ journeys }: Report): string =>
  csvOf([
    ['journey_id', 'name', ...COUNTED],
    ...journeys.map(({ journey_id, name, total }) => [journey_id, name, ...COUNTED.map((figure) => total[figure])]),
  ])

/** The campaigns of a report, one row for each. */
export const csvOfCampaigns = ({ campaigns }: Report): string =>
  csvOf([
    ['campaign_id', 'name', 'channel', ...COUNTED],
    ...campaigns.map(({ campaign_id, name, channel, total }) => [campaign_id, name, channel, ...COUNTED.map((figure) => total[figure])]),
  ])
