/** Which live journeys use a list or a campaign. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { referencesWithin } from '../rules/index.ts'
import { referencesOf } from './graph.ts'
import { liveGraphs } from './queries.ts'
import { referencesOfSettings } from './settings.ts'

/** The names of the live journeys whose live version refers to it: in a step, in a rule or in the settings. */
export async function journeysUsing(ctx: ProjectCtx, { kind, id }: { kind: 'list' | 'campaign'; id: number }): Promise<string[]> {
  return (await liveGraphs(ctx))
    .filter(({ steps, settings }) => {
      const { ids, rules } = referencesOf(steps)
      const references = [...ids, ...referencesOfSettings(settings), ...rules.flatMap(({ rule }) => referencesWithin(rule))]
      return references.some((reference) => reference.kind === kind && reference.id === id)
    })
    .map(({ name }) => name)
}
