/** Reading and comparing versions. */
import type { PageOf, PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { usersAtSteps } from '../../positions/index.ts'
import { presentSteps } from '../present.ts'
import { findJourney } from '../queries.ts'
import { movingTo } from '../sweeps/queries.ts'
import { diffOf } from './diff.ts'
import { findNamed } from './drafts.ts'
import { movingOf, plannedOf } from './plan.ts'
import * as queries from './queries.ts'
import type { Difference, Version, VersionRow, VersionWithSteps } from './schema.ts'
import { hideSecrets } from './secrets.ts'

async function requireJourney(ctx: ProjectCtx, id: JourneyId): Promise<void> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
}

/** Throws 404. */
export async function listVersions(ctx: ProjectCtx, id: JourneyId, page: PageRequest): Promise<PageOf<Version>> {
  await requireJourney(ctx, id)
  const found = await queries.listVersions(ctx, id, page)
  const usersOf = await usersByVersion(ctx, id)
  return { ...found, results: found.results.map((row) => ({ ...shownOf(row), ...usersOf(row.version) })) }
}

/** Throws 404. */
export async function getVersion(ctx: ProjectCtx, id: JourneyId, version: number): Promise<VersionWithSteps> {
  await requireJourney(ctx, id)
  const row = await queries.findVersion(ctx, id, version)
  if (!row) throw missing('version')
  const usersOf = await usersByVersion(ctx, id)
  return {
    ...shownOf(row),
    ...usersOf(version),
    settings: row.settings,
    ...(row.plan !== null && { plan: row.plan }),
    steps: await presentSteps(ctx, id, hideSecrets(row.steps)),
  }
}

/** What differs from one version to another. Throws 404. */
export async function diffVersions(ctx: ProjectCtx, id: JourneyId, from: string, to: string): Promise<Difference> {
  await requireJourney(ctx, id)
  const [one, other] = [await findNamed(ctx, id, from), await findNamed(ctx, id, to)]
  if (!one || !other) throw missing('version')
  const hidden = (row: VersionRow) => ({ steps: hideSecrets(row.steps), settings: row.settings })
  return diffOf(hidden(one), hidden(other))
}

const shownOf = ({ version, status, note, created_at, published_at, published_by }: VersionRow) => ({
  version,
  status,
  ...(note !== null && { note }),
  created_at,
  ...(published_at !== null && { published_at }),
  ...(published_by !== null && { published_by: Number(published_by) }),
})

/** How many users are inside on each version, and how many of them the publication that is under way moves. */
async function usersByVersion(ctx: ProjectCtx, id: JourneyId): Promise<(version: number) => { users: number; moving: number }> {
  const groups = (await usersAtSteps(ctx, id)).map((row) => ({ ...row, type: '' }))
  const target = await movingTo(ctx, id)
  const plan = target !== undefined ? (await queries.findByStatus(ctx, id, 'live'))?.plan : null
  return (version) => {
    const own = groups.filter((group) => group.version === version)
    const { planned } = plannedOf(plan ?? {}, own, [])
    const isMoving = target !== undefined && target !== version
    return { users: own.reduce((sum, { users }) => sum + users, 0), moving: isMoving ? movingOf(planned) : 0 }
  }
}
