import { useCallback } from 'react'
import { useTranslation } from 'react-i18next'
import { labelOf } from './schema-fields.ts'

/** The name of a setting of a rule or a journey, in the language of the member. */
export function useSettingName(): (name: string) => string {
  const { t } = useTranslation()
  return useCallback((name) => t(`setting.${name}`, { defaultValue: labelOf(name) }), [t])
}
