import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, ListId } from '../../lib/ids.ts'
import { pathId, pathUser } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { campaignIdsIn } from '../rules/index.ts'
import { User } from '../users/index.ts'
import type { NamedCampaign } from './check-references.ts'
import { addByHand, removeByHand } from './members/change.ts'
import { explainUser } from './members/explain.ts'
import { listMembers } from './members/list.ts'
import { memberListing } from './members/queries.ts'
import { previewRule } from './preview/preview.ts'
import { listListing } from './queries.ts'
import { Added, List, ListChanges, ListInput, Preview, PreviewInput, Removed, Selection, UserExplanation } from './schema.ts'
import { createList, getList, listLists, presentList, presentLists, recountList, updateList } from './service.ts'

const params = { listId: pathId<ListId>() }

/** Verbs and reads that need campaigns, which stand above lists. */
type Verbs = {
  /** Throws 404, and 422 when something uses the list. */
  archiveList(ctx: ProjectCtx, id: ListId): Promise<void>
  findCampaigns(ctx: ProjectCtx, ids: CampaignId[]): Promise<NamedCampaign[]>
}

export const listRoutes = (verbs: Verbs) => [...ofLists(verbs), ...ofMembers, ...ofRules(verbs)]

/** The campaigns that these rules refer to. */
const campaignsOf = async (ctx: ProjectCtx, { findCampaigns }: Verbs, rules: unknown[]): Promise<NamedCampaign[]> => {
  const ids = rules.flatMap(campaignIdsIn)
  return ids.length > 0 ? findCampaigns(ctx, ids) : []
}

const ofLists = (verbs: Verbs) => [
  route({
    method: 'GET',
    path: '/api/client/lists',
    summary: 'List the lists of the project.',
    access: { secret: 'support' },
    list: listListing,
    reply: Page(List),
    run: async (ctx, { page }) => {
      const lists = await listLists(ctx, page)
      const rules = lists.results.map(({ rule }) => rule)
      return presentLists(ctx, lists, await campaignsOf(ctx, verbs, rules))
    },
  }),
  route({
    method: 'POST',
    path: '/api/client/lists',
    summary: 'Create a list.',
    description: 'A static list starts empty. A dynamic one is built in the background; its `state` says when it is ready.',
    access: { secret: 'editor' },
    body: ListInput,
    reply: List,
    status: 201,
    location: (list) => `/api/client/lists/${list.id}`,
    run: async (ctx, { body }) => {
      const campaigns = await campaignsOf(ctx, verbs, [body.rule])
      return presentList(ctx, await createList(ctx, body, campaigns), campaigns)
    },
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}',
    summary: 'Read a list.',
    access: { secret: 'support' },
    params,
    reply: List,
    run: async (ctx, { params }) => {
      const list = await getList(ctx, params.listId)
      return presentList(ctx, list, await campaignsOf(ctx, verbs, [list.rule]))
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/client/lists/{listId}',
    summary: 'Change a list; only the members given change.',
    description: 'With a new `rule` the list keeps the users of the old one until the new one was applied to everybody.',
    access: { secret: 'editor' },
    params,
    body: ListChanges,
    reply: List,
    run: async (ctx, { params, body }) => {
      const list = await updateList(ctx, params.listId, body, await campaignsOf(ctx, verbs, [body.rule]))
      return presentList(ctx, list, await campaignsOf(ctx, verbs, [list.rule]))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/client/lists/{listId}',
    summary: 'Archive a list that nothing uses.',
    description: 'Lists whose rule mentions it, and campaigns that are about to go out to it, stand in the way.',
    access: { secret: 'editor' },
    params,
    status: 204,
    run: (ctx, { params }) => verbs.archiveList(ctx, params.listId),
  }),
]

const ofMembers = [
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/users',
    summary: 'List the users in a list.',
    description: '`q` finds a substring of `external_id`, `email`, `phone` or `anonymous_id`.',
    access: { secret: 'support' },
    params,
    list: memberListing,
    reply: Page(User),
    run: async (ctx, { params, page }) => listMembers(ctx, (await getList(ctx, params.listId)).live_version_id, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/users',
    summary: 'Put up to 100 users into a static list.',
    description: 'Give `user_ids` or `external_ids`. Who is in the list already stays there.',
    access: { secret: 'editor' },
    params,
    body: Selection,
    reply: Added,
    run: (ctx, { params, body }) => addByHand(ctx, params.listId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/lists/{listId}/users',
    summary: 'Take up to 100 users out of a static list.',
    description: 'Give `user_ids` or `external_ids` in the body.',
    access: { secret: 'editor' },
    params,
    body: Selection,
    reply: Removed,
    run: (ctx, { params, body }) => removeByHand(ctx, params.listId, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/users/{userId}/explain',
    summary: 'Say why a user is in a list, or is not.',
    description: '`member` is what the list has; `holds` and `explanation` are looked at anew, from everything the user did.',
    access: { secret: 'support' },
    params: { ...params, userId: pathUser },
    reply: UserExplanation,
    run: async (ctx, { params }) => explainUser(ctx, await getList(ctx, params.listId), params.userId),
  }),
]

const ofRules = (verbs: Verbs) => [
  route({
    method: 'POST',
    path: '/api/client/lists/preview',
    summary: 'Count the users for whom a rule holds.',
    description: 'Nothing is saved. Each condition is also counted by itself.',
    access: { secret: 'support' },
    body: PreviewInput,
    reply: Preview,
    run: async (ctx, { body }) => previewRule(ctx, body.rule, await campaignsOf(ctx, verbs, [body.rule])),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/recount',
    summary: 'Count the users of a static list, or build a dynamic one, anew.',
    description: 'A list that is being built already is left to it.',
    access: { secret: 'editor' },
    params,
    reply: List,
    status: 202,
    run: async (ctx, { params }) => {
      const list = await recountList(ctx, params.listId)
      return presentList(ctx, list, await campaignsOf(ctx, verbs, [list.rule]))
    },
  }),
]
