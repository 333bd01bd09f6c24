import { IconCheck, IconMinus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** A check that something passed or not; null where it does not apply. */
export type Gate = { id: string; passes: boolean | null; label: ReactNode; found?: ReactNode }

/** Every check in order, with the value that was found. */
export function Gates({ gates }: { gates: Gate[] }) {
  const { t } = useTranslation()
  return (
    <ol className="gates">
      {gates.map(({ id, passes, label, found }) => {
        const IconOf = passes === null ? IconMinus : passes ? IconCheck : IconX
        return (
          <li key={id}>
            <span className={`mk ${passes === null ? 'none' : passes ? '' : 'bad'}`}>
              <IconOf aria-label={t(passes === null ? 'gate.none' : passes ? 'gate.passed' : 'gate.failed')} />
            </span>
            {label}
            {found !== undefined && <small>{found}</small>}
          </li>
        )
      })}
    </ol>
  )
}
