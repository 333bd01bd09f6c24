/** A month in UTC, which has a partition of `events`: `from` is included, `to` is not. */
export type Month = { name: string; from: string; to: string }

/** The month of an instant, or the one `ahead` months later. */
export function monthOf(instant: Date, ahead = 0): Month {
  const from = new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead, 1))
  const to = new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead + 1, 1))
  const day = (date: Date) => date.toISOString().slice(0, 10)
  return { name: `events_${day(from).slice(0, 7).replace('-', '_')}`, from: day(from), to: day(to) }
}

/** The months without a partition, from the first one that has a partition (or this month) to the one `ahead` months from now. */
export function missingMonths(there: ReadonlySet<string>, now: Date, ahead: number): Month[] {
  const last = monthOf(now, ahead)
  const oldest = [...there].filter((name) => /^events_\d{4}_\d{2}$/.test(name)).sort()[0] ?? monthOf(now).name
  const [year, month] = oldest.slice('events_'.length).split('_').map(Number) as [number, number]
  const months: Month[] = []
  for (let next = monthOf(new Date(Date.UTC(year, month - 1, 1))); next.from <= last.from; next = monthOf(new Date(`${next.to}T00:00:00Z`)))
    months.push(next)
  return months.filter(({ name }) => !there.has(name))
}
