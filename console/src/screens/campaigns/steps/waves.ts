const MINUTE_MS = 60_000
const ISO_LENGTH = 19

/** The users of some time zones, who get a message at the same instant. `offsetMin` is what their clocks are ahead of UTC then. */
export type Wave = { at: Date; offsetMin: number; zones: string[] }

/** A clock of a time zone, which reads an instant as milliseconds of local time since 1970. */
function clockOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (at) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`)
}

/**
 * The instant at which the clocks of a zone show a local time, in milliseconds: the first one if they show it twice. A time that is skipped
 * is moved forward by the length of the gap. The server does the same.
 */
export function instantOf(local: string, timeZone: string): number {
  const wanted = Date.parse(`${local.slice(0, ISO_LENGTH)}Z`)
  const clock = clockOf(timeZone)
  const offsets = [wanted - 24 * 60 * MINUTE_MS, wanted + 24 * 60 * MINUTE_MS].map((near) => clock(near) - near)
  const shown = offsets.map((offset) => wanted - offset).filter((at) => clock(at) === wanted)
  return shown.length > 0 ? Math.min(...shown) : wanted - (offsets[0] ?? 0)
}

/** When a local time comes, zone by zone: the first wave first. */
export function wavesOf(local: string, zones: readonly string[]): Wave[] {
  const waves = new Map<number, Wave>()
  for (const zone of zones) {
    const at = instantOf(local, zone)
    const wave = waves.get(at) ?? { at: new Date(at), offsetMin: Math.round((clockOf(zone)(at) - at) / MINUTE_MS), zones: [] }
    wave.zones.push(zone)
    waves.set(at, wave)
  }
  return [...waves.values()].toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

/** How far clocks are ahead of UTC, in words: `UTC+9:30`. */
export function offsetOf(minutes: number): string {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}
