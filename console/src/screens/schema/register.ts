import type { Client } from '@carillon/sdk'
import { merge } from '../../parts/merge.ts'
import { type Entry, type Input, inputOf, REGISTER } from './view.ts'

/** What a member has made of the entry of an attribute, as it was read; `undefined` if the attribute was not in the register. */
type Change = { begun: Entry | undefined; input: Input }

/** Registers what a member has changed of an attribute, over what others have registered meanwhile. Throws what the requests throw. */
export async function register(api: Client, dataKey: string, { begun, input }: Change) {
  const { results } = await api.get(REGISTER)
  const now = inputOf(results.find(({ key }) => key === dataKey))
  return api.put('/api/client/attributes/{key}', { path: { key: dataKey }, body: merge(inputOf(begun), input, now).value })
}
