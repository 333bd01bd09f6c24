import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useMeta, useNames } from '../../../parts/rules/data.ts'
import { useSettingName } from '../../../parts/setting-name.ts'
import type { Step } from '../model/graph.ts'
import type { Meta } from '../search.ts'
import { type Names, valueInWords } from './in-words.ts'

export type Words = { title: string; about: string }

const ABOUT_LENGTH_MAX = 60

const UNITS = ['minutes', 'hours', 'days']

/** The names of everything in the settings of a step, in the language of the member. */
function useNamesIn(): Names {
  const { t } = useTranslation('journeys')
  const ofSetting = useSettingName()
  const operators = useMeta().data?.operators
  const names = {
    campaign: useNames('campaign'),
    journey: useNames('journey'),
    list: useNames('list'),
    subscription: useNames('subscription'),
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names are those of these four readings.
  return useMemo(
    () => ({
      ofReference: (kind, id) => names[kind].find(({ value }) => value === String(id))?.label ?? String(id),
      ofSetting,
      ofOperator: (name) => operators?.[name]?.label ?? name.replaceAll('_', ' '),
      inUnit: (unit, count) => (UNITS.includes(unit) ? t(`unit.${unit}`, { count }) : undefined),
    }),
    [t, ofSetting, operators, names.campaign, names.journey, names.list, names.subscription],
  )
}

/** A step in a few words: its name or kind, and what it is set to. */
export function useWords({ steps }: Meta): (step: Step) => Words {
  const names = useNamesIn()
  return useCallback(
    ({ type, name, data }: Step) => {
      const label = steps[type]?.label ?? type
      const settings = Object.entries(data).flatMap(([key, value]) => valueInWords(key, value, names))
      const about = settings.join(', ').slice(0, ABOUT_LENGTH_MAX)
      return { title: name === '' ? label : name, about: name === '' ? about : [label, about].filter(Boolean).join(': ') }
    },
    [steps, names],
  )
}
