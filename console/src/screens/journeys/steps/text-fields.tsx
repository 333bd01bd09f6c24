import { JsonInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useEdited } from '../../../parts/edited.ts'
import { useSettingName } from '../../../parts/setting-name.ts'
import { type FieldProps, helpOf } from './described.tsx'

/** From this length on a text may have several lines. */
const LONG_TEXT = 5000

/** A text. A setting is never empty: emptying the field removes the setting, or keeps the last text of a `path`. */
export function TextField({ name, schema, value, onChange }: FieldProps) {
  const label = useSettingName()(name)
  const stored = typeof value === 'string' ? value : ''
  const [typed, setTyped] = useState(stored)
  const [seen, setSeen] = useState(stored)
  if (seen !== stored) {
    setSeen(stored)
    if (stored !== typed.trim()) setTyped(stored)
  }
  const Input = (schema.maxLength ?? 0) >= LONG_TEXT ? Textarea : TextInput
  return (
    <Input
      label={label}
      description={helpOf(schema)}
      value={typed}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        if (text.trim() !== '') onChange(text)
        else if (name !== 'path') onChange(undefined)
      }}
    />
  )
}

/** A value without a field of its own, as JSON. */
export function ValueField({ name, schema, value, onChange }: FieldProps) {
  const { t } = useTranslation()
  const label = useSettingName()(name)
  const { edited: text, edit, give } = useEdited(value, (value) => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const parsed = jsonOf(text)
  return (
    <JsonInput
      label={label}
      description={helpOf(schema)}
      autosize
      minRows={3}
      maxRows={12}
      value={text}
      error={parsed.isValid ? undefined : t('form.json')}
      onChange={(next) => {
        edit(next)
        const { isValid, value } = jsonOf(next)
        if (!isValid) return
        give(value)
        onChange(value)
      }}
    />
  )
}

function jsonOf(text: string): { isValid: boolean; value?: unknown } {
  if (text.trim() === '') return { isValid: true }
  try {
    return { isValid: true, value: JSON.parse(text) as unknown }
  } catch {
    return { isValid: false }
  }
}
