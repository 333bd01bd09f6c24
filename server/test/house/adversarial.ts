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
function millisecondsOf(run: () => void): number {
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
const SMALLEST = 4096
/** Shorter texts do not show how the time of longer ones grows. */
const TELLING = 65_536

/**
 * Null if `run` takes time linear in the length of its text, or else what it took. The text grows in steps up to `lengthMax`, so that code
 * that is quadratic is found early and does not run for minutes. It stops growing when it would take too little to count even if the time
 * grew with the square of the length: that is most of the work.
 */
function slownessOf(run: (text: string) => void, textOf: (length: number) => string, lengthMax: number): string | null {
  for (let length = SMALLEST; length <= lengthMax; length *= 4) {
    const [half, whole] = [textOf(length / 2), textOf(length)]
    let lowest = Number.POSITIVE_INFINITY
    let took = 0
    const began = performance.now()
    for (let attempt = 0; attempt < ATTEMPTS && lowest >= RATIO_MAX && took < CERTAIN_MS; attempt++) {
      took = millisecondsOf(() => run(whole))
      const ratio =
        took < MEASURED_MS
          ? 0
          : took /
            Math.max(
              0.01,
              millisecondsOf(() => run(half)),
            )
      lowest = Math.min(lowest, ratio)
    }
    // Processor time is known to a few milliseconds only; it is never more than what passed.
    if (length >= TELLING && (performance.now() - began) * (lengthMax / length) ** 2 < MEASURED_MS) return null
    if (lowest >= RATIO_MAX) return `${length} characters took ${took.toFixed()} ms, ${lowest.toFixed(1)} times what half of them took`
  }
  return null
}

/** What is slow, for every text of the table. */
export const slowTexts = (name: string, run: (text: string) => void, lengthMax: number): string[] =>
  Object.entries(ADVERSARIAL).flatMap(([kind, textOf]) => {
    const slowness = slownessOf(run, textOf, lengthMax)
    return slowness === null ? [] : [`${name}, ${kind}: ${slowness}`]
  })
