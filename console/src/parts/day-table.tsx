import { useDay } from './day-bars.tsx'
import { Num } from './number.tsx'

type Props<F extends string> = {
  /** The name of the table for screen readers. */
  label: string
  /** The heading of the column of days. */
  dayLabel: string
  figures: { name: F; label: string }[]
  days: ({ day: string } & Record<F, number>)[]
}

/** The figures of days, the latest first. */
export function DayTable<F extends string>({ label, dayLabel, figures, days }: Props<F>) {
  const day = useDay()
  return (
    <table className="rows plain-rows" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{dayLabel}</th>
          {figures.map(({ name, label }) => (
            <th key={name} scope="col" className="num">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map((one) => (
          <tr key={one.day}>
            <th scope="row">{day(one.day)}</th>
            {figures.map(({ name }) => (
              <td key={name} className="num">
                <Num value={one[name]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
