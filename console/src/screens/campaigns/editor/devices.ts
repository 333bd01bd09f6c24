/** What devices show of a push message, and whether the body of a request is JSON. Pure. */

export type Device = 'ios' | 'android' | 'web'

/** About as many characters as are shown before the message is opened. It depends on the screen and on settings of its user. */
const SHOWN: Record<Device, { title: number; body: number }> = {
  ios: { title: 40, body: 150 },
  android: { title: 45, body: 50 },
  web: { title: 45, body: 100 },
}

export const DEVICES = Object.keys(SHOWN) as Device[]

/** Push services refuse a message that is larger. */
export const PUSH_BYTES_MAX = 4096

/** Whole characters, as a reader counts them: an emoji of several code points is one. */
function cut(text: string, max: number): string {
  const characters = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)]
  if (characters.length <= max) return text
  return `${characters
    .slice(0, max - 1)
    .map(({ segment }) => segment)
    .join('')
    .trimEnd()}…`
}

type Shown = { title: string; body: string; isCut: boolean }

/** What a device shows before the message is opened. */
export function shownOn(device: Device, { title, body }: { title: string; body: string }): Shown {
  const shown = { title: cut(title, SHOWN[device].title), body: cut(body, SHOWN[device].body) }
  return { ...shown, isCut: shown.title !== title || shown.body !== body }
}

/** Whether a rendered body is JSON; undefined where it does not look as if it should be. */
export function isJson(body: string): boolean | undefined {
  if (!/^\s*[[{]/.test(body)) return undefined
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}
