import { TagsInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Campaign } from '../search.ts'
import type { Editing, Template } from './channels/channel.ts'
import { channels } from './channels/index.ts'
import { without } from './line.tsx'
import { useWords } from './words.ts'

const REQUIRED_MAX = 50
const VARIABLE_MAX = 255

const isUsed = (template: Template, name: string): boolean => template[name] !== undefined

/** The fields that few templates use. They are unfolded if the template uses one of them. */
export function MoreFields({ campaign, template, onChange }: Editing & { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  const { more } = channels[campaign.channel]
  // Only at first: it must not close while its last field is emptied.
  const [isOpen] = useState(() => [...(more?.names ?? []), 'required'].some((name) => isUsed(template, name)))
  const required = Array.isArray(template.required) ? (template.required as string[]) : []
  const variables = (names: string[]) => {
    const kept = names.map((name) => name.trim()).filter((name) => name !== '' && name.length <= VARIABLE_MAX)
    onChange(kept.length === 0 ? without(template, 'required') : { ...template, required: kept })
  }
  return (
    <details className="more-fields" open={isOpen}>
      <summary>{t('template.more')}</summary>
      {more && <more.Fields template={template} onChange={onChange} />}
      <TagsInput
        label={t('template.required')}
        description={t('template.requiredAbout')}
        data={words.map(({ path }) => path.join('.'))}
        value={required}
        maxTags={REQUIRED_MAX}
        onChange={variables}
      />
    </details>
  )
}
