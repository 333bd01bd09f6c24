/** Days in UTC, as the API names them: `2026-11-23`. */

export const DAY_MS = 86_400_000

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

export type DayValue = { day: string; value: number }

/** Each day from the first to the last, both included, with 0 where nothing was counted. */
export function everyDay(first: string, last: string, counted: { day: string; count: number }[]): DayValue[] {
  const counts = new Map(counted.map(({ day, count }) => [day, count]))
  const days: DayValue[] = []
  for (let time = Date.parse(first); time <= Date.parse(last); time += DAY_MS) {
    const day = dayOf(time)
    days.push({ day, value: counts.get(day) ?? 0 })
  }
  return days
}
