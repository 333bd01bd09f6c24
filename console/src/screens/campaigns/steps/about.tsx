import { Select, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useReadAll } from '../../../parts/data.ts'
import { OPTIONS_MAX } from '../../../parts/paging.ts'
import type { StepProps } from './step.ts'

const TAGS_MAX = 50
const TAG_LENGTH_MAX = 64

/**
 * The name of the campaign, and the subscription type that users must have opted in to. Its type and channel cannot change once the
 * campaign exists.
 */
export function AboutStep({ campaign: { channel }, autosave: { draft, change } }: StepProps) {
  const { t } = useTranslation('campaigns')
  const { data } = useReadAll('/api/client/subscriptions')
  const types = (data ?? []).filter((type) => type.channel === channel)
  return (
    <div className="form pad narrow">
      <TextInput
        label={t('field.name')}
        required
        value={draft.name}
        onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
      />
      <Select
        label={t('field.subscription')}
        description={t('field.subscriptionAbout')}
        data={types.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={String(draft.subscription_id)}
        allowDeselect={false}
        searchable
        limit={OPTIONS_MAX}
        onChange={(id) => id && change({ ...draft, subscription_id: Number(id) })}
      />
      <TagsInput
        label={t('field.tags')}
        value={draft.tags ?? []}
        maxTags={TAGS_MAX}
        onChange={(tags) => change({ ...draft, tags: tags.filter((tag) => tag.length <= TAG_LENGTH_MAX) })}
      />
      <Slug slug={draft.slug ?? ''} onChange={(slug) => change({ ...draft, slug })} />
    </div>
  )
}

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** What requests call the campaign. What is half typed is not saved. */
function Slug({ slug, onChange }: { slug: string; onChange: (slug: string) => void }) {
  const { t } = useTranslation('campaigns')
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? slug
  return (
    <TextInput
      label={t('field.slug')}
      description={t('field.slugAbout')}
      required
      maxLength={64}
      value={shown}
      error={SLUG.test(shown) ? undefined : t('field.slugWrong')}
      onChange={(event) => {
        const written = event.currentTarget.value
        setText(written)
        if (SLUG.test(written)) onChange(written)
      }}
    />
  )
}
