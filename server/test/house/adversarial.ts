/** Text that makes careless code slow, and a way to tell whether code is slow: does twice the text take more than twice the time? */

const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** Makes texts of any length. They are kept, and are made of one piece: otherwise the first to read one would pay for that. */
function between(first: string, unit: string, last: string): (length: number) => string {
  const made = new Map<number, string>()
  return (length) => {
    const text = made.get(length) ?? Buffer.from(`${first}${filled(unit, length)}${last}`, 'utf16le').toString('utf16le')
    made.set(length, text)
    return text
  }
}

/** Each makes a text of about the given length. */
export const ADVERSARIAL: Record<string, (length: number) => string> = {
  spaces: between('', ' ', ''),
  'spaces within': between('x', ' ', 'x'),
  'line breaks within': between('x', '\r\n', 'x'),
  'spaces of Unicode within': between('x', '\u0085\u2003\u00a0', 'x'),
  dots: between('', '.', ''),
  labels: between('', 'a.', '!'),
  'an address': between('', 'a@', '.'),
  'a URL': between('https://', 'a.', '/\0'),
  'an IDN': between('https://', 'ü', '.example'),
  'double quotes': between('', '"', ','),
  'escaped quotes': between('"', '\\"', ''),
  'opening brackets': between('', '[', ''),
  parentheses: between('', '()', '('),
  'angle brackets': between('', '<', '>'),
  'opening Liquid': between('', '{{ ', ''),
  'combining marks': between('a', '\u0301\u0323', 'b'),
  digits: between('', '1', 'x'),
  'a number': between('+', '1', ''),
  'digits and separators': between('', '1-', '/'),
  letters: between('', 'a', '\0'),
  emoji: between('', '👩‍👩‍👧', ''),
  mixed: between('', ' .@"[({<\u03011,;:=%2', ''),
}

/** The processor time that `run` takes on this thread, in milliseconds: that of other processes does not count. */
function millisecondsOf(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

export const RATIO_MAX = 3
/** What takes less stalls nothing, and the garbage collector and the compiler would decide the ratio. */
const MEASURED_MS = 400
/** What takes more is measured once: chance cannot explain it. */
const CERTAIN_MS = 2000
const ATTEMPTS = 8

/** Smaller ones than `telling` do not show how the time of larger ones grows. */
type Sizes = { smallest: number; telling: number; max: number; unit: string }

/**
 * Null if the work takes time linear in its size, or else what it took. The size grows in steps up to `max`, so that code
 * that is quadratic is found early and does not run for minutes. It stops growing when it would take too little to count even if the time
 * grew with the square of the size: that is most of the work.
 */
function slownessOf(workOf: (size: number) => () => unknown, { smallest, telling, max, unit }: Sizes): string | null {
  for (let size = smallest; size <= max; size *= 4) {
    let lowest = Number.POSITIVE_INFINITY
    let took = 0
    const began = performance.now()
    for (let attempt = 0; attempt < ATTEMPTS && lowest >= RATIO_MAX && took < CERTAIN_MS; attempt++) {
      // What is changed by its work is made anew for each attempt.
      const [half, whole] = [workOf(size / 2), workOf(size)]
      took = millisecondsOf(whole)
      const ratio = took < MEASURED_MS ? 0 : took / Math.max(0.01, millisecondsOf(half))
      lowest = Math.min(lowest, ratio)
    }
    // Processor time is known to a few milliseconds only; it is never more than what passed.
    if (size >= telling && (performance.now() - began) * (max / size) ** 2 < MEASURED_MS) return null
    if (lowest >= RATIO_MAX) return `${size} ${unit} took ${took.toFixed()} ms, ${lowest.toFixed(1)} times what half of them took`
  }
  return null
}

/** What is slow, for every text of the table. */
export const slowTexts = (name: string, run: (text: string) => void, lengthMax: number): string[] =>
  Object.entries(ADVERSARIAL).flatMap(([kind, textOf]) => {
    const workOf = (length: number) => {
      const text = textOf(length)
      return () => run(text)
    }
    const slowness = slownessOf(workOf, { smallest: 4096, telling: 65_536, max: lengthMax, unit: 'characters' })
    return slowness === null ? [] : [`${name}, ${kind}: ${slowness}`]
  })

/** What is slow of work with so many members, items or steps. `workOf` makes what it needs, which does not count. */
export const slowWithMany = (workOf: (count: number) => () => unknown, max: number): string | null =>
  slownessOf(workOf, { smallest: max / 256, telling: max / 16, max, unit: 'members' })
