import { FIGURES, type Report } from './search.ts'

/** A cell of a CSV file: quoted where it must be, and never a formula of a spreadsheet. */
function cellOf(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const linesOf = (rows: (string | number)[][]): string => rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')

const COUNTED = ['messages', ...FIGURES] as const

/** The days of a report, one row for each. */
export const csvOfDays = ({ days }: Report): string =>
  linesOf([['day', ...COUNTED], ...days.map((day) => [day.day, ...COUNTED.map((name) => day[name])])])

/** The journeys of a report, one row for each. */
export const csvOfJourneys = ({ journeys }: Report): string =>
  linesOf([
    ['journey_id', 'name', ...COUNTED],
    ...journeys.map(({ journey_id, name, total }) => [journey_id, name, ...COUNTED.map((figure) => total[figure])]),
  ])

/** The campaigns of a report, one row for each. */
export const csvOfCampaigns = ({ campaigns }: Report): string =>
  linesOf([
    ['campaign_id', 'name', 'channel', ...COUNTED],
    ...campaigns.map(({ campaign_id, name, channel, total }) => [campaign_id, name, channel, ...COUNTED.map((figure) => total[figure])]),
  ])
