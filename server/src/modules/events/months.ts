/** Months, as the partitions of `events` are cut: `[from, to)` in UTC. */
export type Month = { name: string; from: string; to: string }

/** The month that holds an instant, so many months away. */
export function monthOf(instant: Date, ahead = 0): Month {
  const from = new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead, 1))
  const to = new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead + 1, 1))
  const day = (date: Date) => date.toISOString().slice(0, 10)
  return { name: `events_${day(from).slice(0, 7).replace('-', '_')}`, from: day(from), to: day(to) }
}

/** The months that should have a partition and have none: from the first there is (or this one) to so many ahead. */
export function missingMonths(there: ReadonlySet<string>, now: Date, ahead: number): Month[] {
  const last = monthOf(now, ahead)
  const oldest = [...there].filter((name) => /^events_\d{4}_\d{2}$/.test(name)).sort()[0] ?? monthOf(now).name
  const [year, month] = oldest.slice('events_'.length).split('_').map(Number) as [number, number]
  const months: Month[] = []
  for (let next = monthOf(new Date(Date.UTC(year, month - 1, 1))); next.from <= last.from; next = monthOf(new Date(`${next.to}T00:00:00Z`)))
    months.push(next)
  return months.filter(({ name }) => !there.has(name))
}
