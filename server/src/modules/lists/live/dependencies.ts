import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId } from '../../../lib/ids.ts'
import { registryOf } from './registry.ts'

const LIST = 'list:'

/** These dependencies, and those of the rules of all lists among them. The caller holds the lock on lists. */
export async function dependenciesThrough(ctx: InTx, names: Iterable<string>): Promise<ReadonlySet<string>> {
  const found = new Set(names)
  if (![...found].some((name) => name.startsWith(LIST))) return found
  const { liveVersionOf, byId } = await registryOf(ctx)
  // A set is read to its end, also what is added meanwhile.
  for (const name of found) {
    if (!name.startsWith(LIST)) continue
    const version = liveVersionOf.get(Number(name.slice(LIST.length)) as ListId)
    const rule = version === undefined ? undefined : byId.get(version)?.rule
    for (const further of rule?.dependencies ?? []) found.add(further)
  }
  return found
}

/** The dependencies among these that the rule of a list has. The caller holds the lock on lists. */
export async function namesInRules(ctx: InTx, names: string[]): Promise<string[]> {
  const registry = await registryOf(ctx)
  return names.filter((name) => registry.dependingOn(name).length > 0)
}
