import type { components } from '@carillon/sdk'
import { Select, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export type Input = components['schemas']['KeyInput']

const ROLES = ['support', 'smtpproxy', 'editor', 'publisher', 'admin'] as const

type Props = { input: Input; onChange: (changes: Partial<Input>) => void }

export function NameField({ input, onChange }: Props) {
  const { t } = useTranslation('keys')
  return (
    <TextInput
      label={t('column.name')}
      description={t('create.nameAbout')}
      required
      data-autofocus
      value={input.name}
      onChange={(event) => onChange({ name: event.currentTarget.value })}
    />
  )
}

/** What a key may do, and from where. */
export function RightsFields({ input, onChange }: Props) {
  const { t } = useTranslation('keys')
  return (
    <>
      <Select
        label={t('column.role')}
        description={input.role && t(`role.${input.role}`)}
        data={[...ROLES]}
        value={input.role ?? null}
        allowDeselect={false}
        onChange={(role) => onChange({ role: role as Input['role'] })}
      />
      {input.scope === 'public' && (
        <TagsInput
          label={t('create.origins')}
          description={t('create.originsAbout')}
          value={input.allowed_origins ?? []}
          onChange={(allowed_origins) => onChange({ allowed_origins })}
        />
      )}
    </>
  )
}

export function DescriptionField({ input, onChange }: Props) {
  const { t } = useTranslation('keys')
  return (
    <Textarea
      label={t('description')}
      autosize
      maxLength={1000}
      value={input.description ?? ''}
      onChange={(event) => onChange({ description: event.currentTarget.value || null })}
    />
  )
}
