/** The pure parts of the reports: the address, the request for it, changes, and CSV files. */
import { expect, test } from 'vitest'
import { csvOfCampaigns, csvOfDays, csvOfJourneys } from '../src/screens/reports/csv.ts'
import { changeOf, queryOf, type Report, reportSearchOf } from '../src/screens/reports/search.ts'

test.each([
  [
    { days: '7', channel: 'email', campaign_id: 12, journey_id: '4', figure: 'opened' },
    { days: 7, channel: 'email', campaign_id: 12, journey_id: 4, figure: 'opened' },
  ],
  [{ days: 8, channel: 'fax', figure: 'x', since: '2026-13-45' }, {}],
  [
    { since: '2026-11-01', until: '2026-11-30', days: 7 },
    { since: '2026-11-01', until: '2026-11-30' },
  ],
  [{ until: '2026-11-30' }, {}],
])('the address %o means %o', (address, expected) => expect(reportSearchOf(address)).toEqual(expected))

const NOW = Date.parse('2026-11-23T10:00:00Z')
test.each([
  [{}, { since: '2026-10-25' }],
  [{ days: 7 } as const, { since: '2026-11-17' }],
  [{ since: '2026-11-01', until: '2026-11-30', channel: 'text' } as const, { since: '2026-11-01', until: '2026-12-01', channel: 'text' }],
])('%o is the request %o', (search, expected) => expect(queryOf(search, NOW)).toEqual(expected))

test.each([
  [15, 10, 50],
  [5, 10, -50],
  [5, 0, null],
])('%i after %i is a change of %s', (now, before, expected) => expect(changeOf(now, before)).toBe(expected))

const counts = { messages: 3, sent: 2, delivered: 2, opened: 1, clicked: 0, bounced: 0, complained: 0, unsubscribed: 1, failed: 1 }
test('CSV files quote what must be quoted, and hold no formula', () => {
  const campaigns = ['=1+1', 'Sale, "now"'].map((name, index) => ({ campaign_id: index, name, channel: 'email', total: counts }))
  const journeys = [{ journey_id: 4, name: 'Welcome', total: counts }]
  const report = { days: [{ day: '2026-11-23', ...counts }], campaigns, journeys } as unknown as Report
  expect(csvOfDays(report)).toBe(
    '\uFEFFday,messages,sent,delivered,opened,clicked,bounced,complained,unsubscribed,failed\r\n2026-11-23,3,2,2,1,0,0,0,1,1\r\n',
  )
  expect(csvOfCampaigns(report).split('\r\n').slice(1, 3)).toEqual([
    "0,'=1+1,email,3,2,2,1,0,0,0,1,1",
    '1,"Sale, ""now""",email,3,2,2,1,0,0,0,1,1',
  ])
  expect(csvOfJourneys(report).split('\r\n')[1]).toBe('4,Welcome,3,2,2,1,0,0,0,1,1')
})
