const SECOND = 1000
const MINUTE = 60 * SECOND
/** Each unit with its length, and how many of it are the next one. */
const STEPS: [Intl.RelativeTimeFormatUnit, number, number][] = [
  ['minute', MINUTE, 60],
  ['hour', 3600 * SECOND, 24],
  ['day', 86_400 * SECOND, Number.POSITIVE_INFINITY],
]

/** How far away an instant is: “5 minutes ago”. Hours say nothing of the day, so that none is called tomorrow or yesterday. */
export function relative(language: string, at: Date, now: number, justNow: string): string {
  const difference = at.getTime() - now
  if (Math.abs(difference) < MINUTE) return justNow
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'always' })
  for (const [unit, size, next] of STEPS) {
    const count = Math.round(difference / size)
    if (Math.abs(count) < next) return format.format(count, unit)
  }
  return justNow
}
