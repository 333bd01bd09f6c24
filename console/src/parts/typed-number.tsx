import { NumberInput, type NumberInputProps } from '@mantine/core'
import { useEdited } from './edited.ts'
import { numberIn } from './typed.ts'

type Props = Omit<NumberInputProps, 'value' | 'onChange'> & { value: unknown; onChange: (value: number | undefined) => void }

/** A field for a number. It keeps what is typed, such as `0.` on the way to `0.5`, and gives the number that it is so far. */
export function TypedNumber({ value, onChange, ...input }: Props) {
  const { edited, edit, give } = useEdited<number | undefined, number | string>(
    typeof value === 'number' ? value : undefined,
    (value) => value ?? '',
  )
  const change = (typed: number | string) => {
    const number = numberIn(typed)
    edit(typed)
    give(number)
    onChange(number)
  }
  return <NumberInput {...input} value={edited} onChange={change} />
}
