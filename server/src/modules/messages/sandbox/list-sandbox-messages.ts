import type { PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId } from '../../../lib/ids.ts'
import * as queries from './queries.ts'
import type { SandboxQuery } from './schema.ts'

/** The campaigns and journeys with a tag. It is passed in, because their modules depend on this one. */
export type TaggedWith = (ctx: ProjectCtx, tag: string) => Promise<{ campaigns: CampaignId[]; journeys: JourneyId[] }>

/** The sandbox messages that a query describes. A tag is that of the campaign or the journey of a message (D-CON-28). */
export async function listSandboxMessages(ctx: ProjectCtx, page: PageRequest, { tag, ...query }: SandboxQuery, taggedWith: TaggedWith) {
  return queries.listSandboxMessages(ctx, page, query, tag === undefined ? null : await taggedWith(ctx, tag))
}
