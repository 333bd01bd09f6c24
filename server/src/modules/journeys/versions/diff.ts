/** What differs between two versions of a journey. Pure. */
import { isDeepStrictEqual } from 'node:util'
import type { Step } from '../schema.ts'
import type { JourneySettings } from '../settings.ts'
import type { Difference } from './schema.ts'

type Graph = { steps: Step[]; settings: JourneySettings }
type Change = Difference['changed'][number]

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The differences, without positions on the screen. */
export function diffOf(from: Graph, to: Graph): Difference {
  const before = new Map(from.steps.map((step) => [step.external_id, step]))
  const after = new Map(to.steps.map((step) => [step.external_id, step]))
  const changed = [...after].flatMap(([key, step]) => {
    const former = before.get(key)
    return former ? changesBetween(comparedOf(former), comparedOf(step)).map((change) => ({ step: key, ...change })) : []
  })
  return {
    added: [...after.keys()].filter((key) => !before.has(key)),
    removed: [...before.keys()].filter((key) => !after.has(key)),
    changed: [...changed, ...changesBetween(from.settings, to.settings)],
  }
}

const comparedOf = ({ type, name, data, children }: Step) => ({ type, name, data, children })

/** The changes of the members of an object, and of objects in it. Arrays are compared as a whole. */
function changesBetween(from: object, to: object, at = ''): Change[] {
  const [before, after] = [from as Record<string, unknown>, to as Record<string, unknown>]
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name): Change[] => {
    const [one, other] = [before[name], after[name]]
    const path = at === '' ? name : `${at}.${name}`
    if (isDeepStrictEqual(one, other)) return []
    if (isObject(one) && isObject(other)) return changesBetween(one, other, path)
    return [{ at: path, ...(one !== undefined && { from: one }), ...(other !== undefined && { to: other }) }]
  })
}
