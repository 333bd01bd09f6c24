import { Checkbox } from '@mantine/core'

type Keys = ReadonlySet<string | number>

type All = { selection: { id: string; label: string; keys: Keys; onChange: (keys: Keys) => void }; keys: (string | number)[] }

/** The checkbox for all rows of the page. */
export function SelectAll({ selection: { id, label, keys: chosen, onChange }, keys }: All) {
  const count = keys.filter((key) => chosen.has(key)).length
  const hasAll = count > 0 && count === keys.length
  return (
    <td className="select">
      <Checkbox
        id={id}
        aria-label={label}
        checked={hasAll}
        indeterminate={count > 0 && !hasAll}
        onChange={() => onChange(new Set(hasAll ? [] : keys))}
      />
    </td>
  )
}

type Row<T> = { selection: { labelOf: (row: T) => string; keys: Keys; onChange: (keys: Keys) => void }; row: T; id: string | number }

/** The checkbox of a row. */
export function SelectRow<T>({ selection: { labelOf, keys, onChange }, row, id }: Row<T>) {
  return (
    <td className="select">
      <Checkbox
        aria-label={labelOf(row)}
        checked={keys.has(id)}
        onChange={(event) => onChange(new Set(event.currentTarget.checked ? [...keys, id] : [...keys].filter((key) => key !== id)))}
      />
    </td>
  )
}
