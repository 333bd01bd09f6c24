/** Chooses black or white for text on a colour. Pure. */

const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)

/** The relative luminance of WCAG 2.2. `colour` is `#rrggbb`. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast ratio of two colours, from 1 to 21. Text needs 4.5. */
export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

const WHITE = '#ffffff'
const BLACK = '#000000'

/** The colour for text on this colour. The better of the two always has a contrast of at least 4.58. */
export const textOn = (colour: string) => (contrast(colour, WHITE) >= contrast(colour, BLACK) ? WHITE : BLACK)
