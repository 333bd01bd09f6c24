/** The settings of a step in a few words. Pure. */

const ID = '_id'

const REFERENCES = ['campaign', 'journey', 'list', 'subscription'] as const
type Reference = (typeof REFERENCES)[number]

/** The kind of thing that a setting names by its id: `campaign_id` is a campaign. */
export const referenceIn = (name: string): Reference | undefined => REFERENCES.find((kind) => name === `${kind}${ID}`)

/** The kind of things that a setting names by their ids: `exclusion_list_ids` are lists. */
export const referencesIn = (name: string): Reference | undefined => REFERENCES.find((kind) => name.endsWith(`${kind}${ID}s`))

export type Names = {
  /** What an id stands for. */
  ofReference: (kind: Reference, id: unknown) => string
  ofSetting: (name: string) => string
  /** “is set”, “is greater than”. */
  ofOperator: (name: string) => string
  /** A number with the unit that the setting is in, as in “21 days”; undefined for a setting that is no unit. */
  inUnit: (unit: string, count: number) => string | undefined
}

/** What a setting says, in the language of the member. */
export function valueInWords(key: string, value: unknown, names: Names): string[] {
  const reference = referenceIn(key)
  if (reference) return [names.ofReference(reference, value)]
  if (typeof value === 'boolean') return value ? [names.ofSetting(key)] : []
  if (typeof value === 'number') return [names.inUnit(key, value) ?? `${names.ofSetting(key)}: ${value}`]
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap((item) => (typeof item === 'string' ? [item] : (item?.path ?? item?.event_name ?? [])))
  return typeof value === 'object' && value !== null ? objectInWords(value as Record<string, unknown>, names) : []
}

/** A rule by what its conditions are about, anything else by its members. */
function objectInWords(value: Record<string, unknown>, names: Names): string[] {
  const { attribute, event, all, any, none } = value
  const group = [all, any, none].find(Array.isArray)
  if (group) return group.flatMap((rule) => objectInWords(rule, names))
  if (typeof event === 'string') return [event]
  if (typeof attribute !== 'string') return [Object.keys(value).map(names.ofSetting).join(', ')]
  const tests = Object.entries(value).filter(([name]) => name !== 'attribute')
  return [[attribute, ...tests.map(([name, wanted]) => `${names.ofOperator(name)}${wanted === true ? '' : ` ${wanted}`}`)].join(' ')]
}
