/** Finds the users of rows without ids: a row belongs to the user with its email address or phone number, if exactly one user has it (D-IMP-3). */
import type { InTx } from '../../infra/runtime/ctx.ts'
import { ownersOfEmails, ownersOfPhones, type Profile, phoneOf } from '../users/index.ts'
import type { Outcome, ValidRow } from './outcomes.ts'

type IdentifiedBy = 'ids' | 'email' | 'phone'

function identifiedBy({ external_id, anonymous_id, email }: Profile): IdentifiedBy {
  if (external_id !== undefined || anonymous_id !== undefined) return 'ids'
  return typeof email === 'string' ? 'email' : 'phone'
}

/** Divides rows into runs that are identified in the same way, in order. */
export function runsOf(rows: ValidRow[]): ValidRow[][] {
  const runs: ValidRow[][] = []
  for (const row of rows) {
    const last = runs.at(-1)
    if (last?.[0] && identifiedBy(last[0].profile) === identifiedBy(row.profile)) last.push(row)
    else runs.push([row])
  }
  return runs
}

/** Gives rows without ids those of their users, which are looked up among the stored ones. `failed` are those without exactly one user. */
export async function identifyRows(ctx: InTx, rows: ValidRow[]): Promise<{ rows: ValidRow[]; failed: Outcome[] }> {
  if (rows.every(({ profile }) => identifiedBy(profile) === 'ids')) return { rows, failed: [] }
  const addressOf = addressIn(ctx)
  const owners = await ownersOf(ctx, rows.map(addressOf))
  const identified: ValidRow[] = []
  const failed: Outcome[] = []
  for (const { row, profile } of rows) {
    const address = addressOf({ row, profile })
    const owner = address && owners.get(keyOf(address))
    if (!address) identified.push({ row, profile })
    else if (owner?.owners === 1) identified.push({ row, profile: { ...profile, ...idOf(owner) } })
    else failed.push({ row, is: 'failed', faults: [notIdentified(address.by, owner !== undefined)] })
  }
  return { rows: identified, failed }
}

type Address = { by: 'email' | 'phone'; value: string }

/** The address that identifies a row, as it is stored; undefined for a row with ids. */
function addressIn(ctx: InTx): (row: ValidRow) => Address | undefined {
  const normalise = phoneOf(ctx.project)
  return ({ profile }) => {
    const by = identifiedBy(profile)
    if (by === 'ids') return undefined
    // Emails are compared without case (D-F-1). A number that is none is no user's.
    return { by, value: by === 'email' ? (profile.email ?? '').toLowerCase() : (normalise(profile, null) ?? '') }
  }
}

const keyOf = ({ by, value }: Address) => `${by} ${value}`

type Owner = { owners: number; external_id: string | null; anonymous_id: string | null }

const idOf = ({ external_id, anonymous_id }: Owner): Profile =>
  external_id === null ? { ...(anonymous_id !== null && { anonymous_id }) } : { external_id }

async function ownersOf(ctx: InTx, addresses: (Address | undefined)[]): Promise<Map<string, Owner>> {
  const values = (wanted: Address['by']) => [...new Set(addresses.flatMap((address) => (address?.by === wanted ? [address.value] : [])))]
  const [emails, phones] = [values('email'), values('phone')]
  const found = [
    ...(emails.length > 0 ? (await ownersOfEmails(ctx, emails)).map((owner) => ({ by: 'email' as const, ...owner })) : []),
    ...(phones.length > 0 ? (await ownersOfPhones(ctx, phones)).map((owner) => ({ by: 'phone' as const, ...owner })) : []),
  ]
  return new Map(found.map((owner) => [keyOf(owner), owner]))
}

const NAMES = { email: 'email address', phone: 'phone number' }

const notIdentified = (by: Address['by'], isShared: boolean) => ({
  code: 'resource_missing' as const,
  message: `The row has no id, and ${isShared ? 'several users have' : 'no user has'} its ${NAMES[by]}. Fill in its \`external_id\` or \`anonymous_id\`.`,
})
