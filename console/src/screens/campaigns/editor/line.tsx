import { JsonInput, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useEdited } from '../../../parts/edited.ts'
import type { Editing, Template } from './channels/channel.ts'

export const without = (template: Template, name: string): Template => {
  const { [name]: _, ...rest } = template
  return rest
}

type LineProps = Editing & {
  name: string
  max: number
  isRequired?: boolean
  isLong?: boolean
  about?: string
}

/** One line of text, with its length. A line that is not required leaves the template when it is emptied. */
export function Line({ template, onChange, name, max, isRequired = false, isLong = false, about }: LineProps) {
  const { t } = useTranslation('campaigns')
  const value = typeof template[name] === 'string' ? template[name] : ''
  const given = {
    label: t(`template.${name}`),
    description: about,
    required: isRequired,
    maxLength: max,
    value,
    dir: 'auto',
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value === '' && !isRequired ? without(template, name) : { ...template, [name]: currentTarget.value }),
  }
  const length = <span className="xs quiet n">{value.length}</span>
  return isLong ? (
    <Textarea {...given} autosize minRows={4} maxRows={16} />
  ) : (
    <TextInput {...given} rightSection={value === '' ? null : length} rightSectionWidth={44} />
  )
}

/** The object that a text is as JSON; null if it is none. */
function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** An object as JSON. What is half typed is not saved. */
export function ObjectField({ template, onChange, name }: Editing & { name: string }) {
  const { t } = useTranslation('campaigns')
  const stored = template[name]
  const { edited: text, edit, give } = useEdited(stored, (stored) => (stored ? JSON.stringify(stored, null, 2) : ''))
  const isWrong = text.trim() !== '' && objectIn(text) === null
  const write = (text: string) => {
    edit(text)
    const value = objectIn(text)
    if (text.trim() === '') {
      give(undefined)
      onChange(without(template, name))
    } else if (value) {
      give(value)
      onChange({ ...template, [name]: value })
    }
  }
  return (
    <JsonInput
      label={t(`template.${name}`)}
      autosize
      minRows={2}
      formatOnBlur
      error={isWrong ? t('form.json') : undefined}
      value={text}
      onChange={write}
    />
  )
}
