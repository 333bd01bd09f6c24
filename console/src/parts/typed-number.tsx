import { NumberInput, type NumberInputProps } from '@mantine/core'
import { useRef } from 'react'
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

type RequiredProps = Omit<Props, 'value' | 'onChange' | 'required' | 'onFocus' | 'onBlur'> & {
  value: number
  onChange: (value: number) => void
}

/** A field for a number that must be there. As long as none is typed it gives nothing, and when it is left then, the number that it had before is there again. */
export function RequiredNumber({ value, onChange, ...input }: RequiredProps) {
  const { edited, edit, give } = useEdited<number, number | string>(value, (value) => value)
  const before = useRef(value)
  const change = (typed: number | string) => {
    const number = numberIn(typed)
    edit(typed)
    if (number === undefined) return
    give(number)
    onChange(number)
  }
  const begin = () => {
    before.current = value
  }
  // Who empties it from its end gives another number on the way.
  const leave = () => numberIn(edited) === undefined && change(before.current)
  return <NumberInput {...input} value={edited} onChange={change} onFocus={begin} onBlur={leave} />
}
