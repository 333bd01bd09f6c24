/**
 * The most frequent names of a range of days. A project can have a hundred thousand names, more than a request can sum. So a job keeps the
 * total of each name over all days, and only the names with the highest totals are summed: no other can have more events in the range
 * than its total. The job serves projects with many names; in others, all names are summed.
 */
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { countsByDay, type Days, listCandidates, type NameDayRow } from './reading.queries.ts'
import * as queries from './totals.queries.ts'

export const TOTAL_NAMES = { name: 'events.total-names' }

/** So many names with the highest totals are summed for a request, and at most so many whose total is not up to date. */
const CANDIDATES_MAX = 250
/** The job leaves so many counts, of which a name can have several, to the requests. */
const UNTOTALLED_MAX = CANDIDATES_MAX / 2
const TOTALLED_AT_ONCE = 5000

/** The daily counts of the most frequent names in a range of days, most frequent first. At most `most` names. */
export async function countFrequentNames(ctx: ProjectCtx, days: Days, most: number): Promise<NameDayRow[]> {
  const found = await listCandidates(ctx, CANDIDATES_MAX + 1)
  const totals = found.flatMap(({ total }) => (total === null ? [] : [total]))
  const isListed = found.length - totals.length <= CANDIDATES_MAX
  if (isListed) {
    const names = [...new Set(found.map(({ name }) => name))]
    const rows = await countsByDay(ctx, days, names, most)
    if (totals.length <= CANDIDATES_MAX || areMostFrequent(rows, totals.at(-1) ?? 0, most)) return rows
  }
  return countsByDay(ctx, days, 'all', most)
}

/** Whether these are the `most` names with the most events, given that every other name has at most `total`. Pure. */
export function areMostFrequent(rows: Pick<NameDayRow, 'name' | 'name_total'>[], total: number, most: number): boolean {
  const counts = new Map(rows.map(({ name, name_total }) => [name, name_total]))
  return counts.size === most && [...counts.values()].every((count) => count >= total)
}

/** Adds newly counted events to the totals of names, in projects with many names. Returns the number of rows of counts. */
export async function totalNames(ctx: Ctx): Promise<number> {
  const projects = await queries.projectsToTotal(ctx, UNTOTALLED_MAX)
  return projects.length === 0 ? 0 : queries.addToTotals(ctx, projects, TOTALLED_AT_ONCE)
}
