import { useCallback } from 'react'
import { type Reference, useNames } from '../../../parts/rules/data.ts'
import type { Step } from '../model/graph.ts'
import type { Meta } from '../search.ts'

export type Words = { title: string; about: string }

const ABOUT_LENGTH_MAX = 60
const ID = '_id'

const REFERENCES = ['campaign', 'journey', 'list', 'subscription'] as const

/** The kind of thing that a setting names by its id: `campaign_id` is a campaign. */
export const referenceIn = (name: string): Reference | undefined => REFERENCES.find((kind) => name === `${kind}${ID}`)

/** The kind of things that a setting names by their ids: `exclusion_list_ids` are lists. */
export const referencesIn = (name: string): Reference | undefined => REFERENCES.find((kind) => name.endsWith(`${kind}${ID}s`))

/** A step in a few words: its name or kind, and what it is set to. */
export function useWords({ steps }: Meta): (step: Step) => Words {
  const names = {
    campaign: useNames('campaign'),
    journey: useNames('journey'),
    list: useNames('list'),
    subscription: useNames('subscription'),
  }
  const nameOf = (kind: Reference, id: unknown) => names[kind].find(({ value }) => value === String(id))?.label ?? String(id)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names are those of these four readings.
  return useCallback(
    ({ type, name, data }: Step) => {
      const label = steps[type]?.label ?? type
      const settings = Object.entries(data).flatMap(([key, value]) => valueInWords(key, value, nameOf))
      const about = settings.join(', ').slice(0, ABOUT_LENGTH_MAX)
      return { title: name === '' ? label : name, about: name === '' ? about : [label, about].filter(Boolean).join(': ') }
    },
    [steps, names.campaign, names.journey, names.list, names.subscription],
  )
}

function valueInWords(key: string, value: unknown, nameOf: (kind: Reference, id: unknown) => string): string[] {
  const reference = referenceIn(key)
  if (reference) return [nameOf(reference, value)]
  if (typeof value === 'boolean') return value ? [key.replaceAll('_', ' ')] : []
  if (typeof value === 'number') return [`${value} ${key.replaceAll('_', ' ')}`]
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap((item) => (typeof item === 'string' ? [item] : (item?.path ?? item?.event_name ?? [])))
  return typeof value === 'object' && value !== null ? objectInWords(value as Record<string, unknown>) : []
}

/** A rule by what its conditions are about, anything else by its members. */
function objectInWords(value: Record<string, unknown>): string[] {
  const { attribute, event, all, any, none } = value
  const group = [all, any, none].find(Array.isArray)
  if (group) return group.flatMap((rule) => objectInWords(rule))
  if (typeof event === 'string') return [event]
  if (typeof attribute !== 'string') return [Object.keys(value).join(', ')]
  const tests = Object.entries(value).filter(([name]) => name !== 'attribute')
  return [[attribute, ...tests.map(([name, wanted]) => `${name.replaceAll('_', ' ')}${wanted === true ? '' : ` ${wanted}`}`)].join(' ')]
}
