import { TextInput, type TextInputProps } from '@mantine/core'
import { useEdited } from './edited.ts'

type Props = Omit<TextInputProps, 'type' | 'value' | 'onChange' | 'onBlur'> & {
  type: 'date' | 'datetime-local'
  value: string
  onChange: (value: string) => void
}

/** A year as it is typed begins with zeros. */
const isWhole = (typed: string) => /^[1-9]\d{3}-/.test(typed)

/**
 * A field for a day, or for a time on a day. It keeps what is typed, and gives it when its year is whole. Left without a whole one, it shows what it
 * gave last.
 */
export function TypedDay({ value, onChange, ...input }: Props) {
  const { edited, edit, give } = useEdited(value, (value) => value)
  const change = (typed: string) => {
    edit(typed)
    if (!isWhole(typed)) return
    give(typed)
    onChange(typed)
  }
  return (
    <TextInput
      {...input}
      value={edited}
      onChange={(event) => change(event.currentTarget.value)}
      onBlur={() => !isWhole(edited) && edit(value)}
    />
  )
}
