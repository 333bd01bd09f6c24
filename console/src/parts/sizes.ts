const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const STEP = 1000

/** A size with its unit: “4.2 GB”. */
export function sizeOf(language: string, bytes: number): string {
  const power = bytes < STEP ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(STEP)))
  const options = { style: 'unit', unit: UNITS[power] as string, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, options).format(bytes / STEP ** power)
}
