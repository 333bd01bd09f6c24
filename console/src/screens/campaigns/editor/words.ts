import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import type { Campaign } from '../search.ts'

/** A variable that Liquid can print: its path, and what is known of it. */
export type Word = { path: string[]; about: string; sample: string }

/** Splits an attribute’s name in rules: a dot in a key of `data` is written `\.`. */
const pathOf = (key: string): string[] => key.split(/(?<!\\)\./).map((part) => part.replaceAll(/\\(.)/g, '$1'))

/** The variables of a template: the attributes of users and, where an event sends the campaign, those of the event. */
export function useWords({ event_name: eventName }: Campaign): Word[] {
  const { t, i18n } = useTranslation('campaigns')
  const attributes = useRead('/api/client/schema/attributes', {})
  const events = useRead('/api/client/schema/events', { query: { limit: 100 } }, { enabled: eventName !== undefined })
  return useMemo(() => {
    const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 0 })
    const aboutOf = ({ types, coverage }: { types: string[]; coverage: number }) =>
      t('editor.coverage', { types: types.join(', '), share: percent.format(coverage) })
    const event = events.data?.results.find(({ name }) => name === eventName)
    return [
      ...(attributes.data?.results ?? []).map((attribute) => ({
        path: ['user', ...pathOf(attribute.key)],
        about: aboutOf(attribute),
        sample: attribute.samples.join(', '),
      })),
      ...(event?.attributes ?? []).map((attribute) => ({
        path: ['event', ...pathOf(attribute.key)],
        about: aboutOf(attribute),
        sample: attribute.samples.join(', '),
      })),
      ...['unsubscribe_url', 'preferences_url', 'view_url'].map((name) => ({ path: [name], about: t('editor.link'), sample: '' })),
    ]
  }, [attributes.data, events.data, eventName, t, i18n.language])
}
