import { Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { OPTIONS_MAX } from '../../parts/paging.ts'
import { ZONES } from './fields.ts'

type Identity = { name: string; locale: string; timezone: string }

type Props = { draft: Identity; set: (changes: Partial<Identity>) => void; isFixed?: boolean; isNew?: boolean }

/** What every project has: its name, locale and time zone. */
export function IdentityFields({ draft, set, isFixed = false, isNew = false }: Props) {
  const { t } = useTranslation('settings')
  return (
    <>
      <TextInput
        label={t('general.name')}
        required
        disabled={isFixed}
        data-autofocus={isNew || undefined}
        maxLength={255}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        label={t('general.locale')}
        description={t('general.localeAbout')}
        required
        disabled={isFixed}
        value={draft.locale}
        onChange={(event) => set({ locale: event.currentTarget.value })}
      />
      <Select
        label={t('general.timezone')}
        description={t('general.timezoneAbout')}
        required
        disabled={isFixed}
        searchable
        limit={OPTIONS_MAX}
        allowDeselect={false}
        data={[...new Set([draft.timezone, ...ZONES])]}
        value={draft.timezone}
        onChange={(timezone) => timezone && set({ timezone })}
      />
    </>
  )
}
