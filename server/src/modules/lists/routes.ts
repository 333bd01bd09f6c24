import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ListId } from '../../lib/ids.ts'
import { pathId, pathUser } from '../../lib/path-params.ts'
import { ForceQuery, Page } from '../../lib/shapes.ts'
import { User } from '../users/index.ts'
import type { NamedCampaign } from './check-references.ts'
import { addByHand, removeByHand } from './members/change.ts'
import { explainUser } from './members/explain.ts'
import { listListsOfUser, listMembers } from './members/list.ts'
import { listOfUserListing, memberListing } from './members/queries.ts'
import { previewRule } from './preview/preview.ts'
import { matchListing } from './preview/queries.ts'
import { searchByRule } from './preview/search.ts'
import { listListing } from './queries.ts'
import {
  Added,
  List,
  ListChanges,
  ListInput,
  ListOfUser,
  ListQuery,
  MatchingUsers,
  Preview,
  PreviewInput,
  Removed,
  Selection,
  UserExplanation,
} from './schema.ts'
import { createList, getList, listLists, presentList, presentLists, recountList, unarchiveList, updateList } from './service.ts'
import { sizeRoutes } from './sizes/routes.ts'

const params = { listId: pathId<ListId>() }

const listAudit = audits('list', {
  id: 'listId',
  read: async (ctx: ProjectCtx, id: ListId) => {
    const { name, type, rule, tags, created_at, updated_at } = await getList(ctx, id)
    return { name, type, rule, tags, created_at, updated_at }
  },
})

const versioned = { of: ({ name, rule, tags }: List) => ({ name, rule, tags }) }

/** Functions that need the module `campaigns`, which depends on this one. */
type Verbs = {
  /** Throws 404, and 422 when the list is in use. */
  archiveList(ctx: ProjectCtx, id: ListId, options: { isForced: boolean }): Promise<void>
  /** The campaigns that these rules refer to, as far as they exist. */
  referencedCampaigns(ctx: ProjectCtx, rules: unknown[]): Promise<NamedCampaign[]>
}

export const listRoutes = (verbs: Verbs) => [...ofLists(verbs), ...ofMembers, ...ofRules(verbs), ...sizeRoutes]

const ofLists = (verbs: Verbs) => [
  route({
    method: 'GET',
    path: '/api/client/lists',
    summary: 'List the lists of the project.',
    description: 'Archived lists are left out, unless `archived` is `true`.',
    access: { secret: 'support' },
    query: ListQuery,
    list: listListing,
    translated: true,
    reply: Page(List),
    run: async (ctx, { page, query }) => {
      const lists = await listLists(ctx, page, query)
      const rules = lists.results.map(({ rule }) => rule)
      return presentLists(ctx, lists, await verbs.referencedCampaigns(ctx, rules))
    },
  }),
  route({
    method: 'POST',
    path: '/api/client/lists',
    summary: 'Create a list.',
    description: 'A static list starts empty. A dynamic list is built in the background; it is complete when its `state` is `ready`.',
    access: { secret: 'editor' },
    audit: listAudit('created'),
    body: ListInput,
    translated: true,
    reply: List,
    status: 201,
    location: (list) => `/api/client/lists/${list.id}`,
    run: async (ctx, { body }) => {
      const campaigns = await verbs.referencedCampaigns(ctx, [body.rule])
      return presentList(ctx, await createList(ctx, body, campaigns), campaigns)
    },
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}',
    summary: 'Read a list.',
    description: 'While `state` is `building`, `progress` shows how much of the list has been built.',
    access: { secret: 'support' },
    versioned,
    params,
    translated: true,
    reply: List,
    run: async (ctx, { params }) => {
      const list = await getList(ctx, params.listId)
      return presentList(ctx, list, await verbs.referencedCampaigns(ctx, [list.rule]))
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/client/lists/{listId}',
    summary: 'Change a list.',
    description:
      'Omitted members keep their values. With a new `rule`, the list keeps its users until it has been built with the new rule.',
    access: { secret: 'editor' },
    audit: listAudit('updated'),
    versioned,
    params,
    body: ListChanges,
    translated: true,
    reply: List,
    run: async (ctx, { params, body }) => {
      const list = await updateList(ctx, params.listId, body, await verbs.referencedCampaigns(ctx, [body.rule]))
      return presentList(ctx, list, await verbs.referencedCampaigns(ctx, [list.rule]))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/client/lists/{listId}',
    summary: 'Archive a list that is not in use.',
    description:
      'The request is refused while the list is used in the rule of another list, as a list or excluded list of a campaign that is scheduled or being sent, in the `event_rule` of a trigger campaign that is running, or in a live journey. With `force=true`, live journeys do not prevent archiving; their conditions on the list are false from then on.',
    access: { secret: 'editor' },
    audit: listAudit('deleted'),
    versioned,
    params,
    query: ForceQuery,
    status: 204,
    errors: ['validation_failed'],
    run: (ctx, { params, query }) => verbs.archiveList(ctx, params.listId, { isForced: query.force === 'true' }),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/unarchive',
    summary: 'Restore an archived list.',
    description:
      'A static list gets its former users back. A dynamic list is built again and is empty until its `state` is `ready`. The request is refused if the rule of the list refers to something that no longer exists.',
    access: { secret: 'editor' },
    audit: listAudit('unarchived'),
    params,
    translated: true,
    reply: List,
    run: async (ctx, { params }) => {
      const list = await unarchiveList(ctx, params.listId, (rule) => verbs.referencedCampaigns(ctx, [rule]))
      return presentList(ctx, list, await verbs.referencedCampaigns(ctx, [list.rule]))
    },
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
    summary: 'Add up to 100 users to a static list.',
    description: 'Give `user_ids` or `external_ids`. Users who are already in the list are counted as `unchanged`.',
    access: { secret: 'editor' },
    audit: { none: 'the members of a list are users' },
    params,
    body: Selection,
    reply: Added,
    run: (ctx, { params, body }) => addByHand(ctx, params.listId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/lists/{listId}/users',
    summary: 'Remove up to 100 users from a static list.',
    description: 'Give `user_ids` or `external_ids` in the body.',
    access: { secret: 'editor' },
    audit: { none: 'the members of a list are users' },
    params,
    body: Selection,
    reply: Removed,
    run: (ctx, { params, body }) => removeByHand(ctx, params.listId, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/users/{userId}/explain',
    summary: 'Explain why a user is or is not in a list.',
    description: '`member` is the stored membership. `holds` and `explanation` are evaluated now, from all stored events of the user.',
    access: { secret: 'support' },
    params: { ...params, userId: pathUser },
    reply: UserExplanation,
    run: async (ctx, { params }) => explainUser(ctx, await getList(ctx, params.listId), params.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/lists',
    summary: 'List the lists that a user is in.',
    description: 'The most recently entered lists come first. Archived lists are left out.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    list: listOfUserListing,
    reply: Page(ListOfUser),
    run: (ctx, { params, page }) => listListsOfUser(ctx, params.userId, page),
  }),
]

const ofRules = (verbs: Verbs) => [
  route({
    method: 'POST',
    path: '/api/client/lists/preview',
    summary: 'Count the users who match a rule.',
    description: 'Saves nothing. Each condition is also counted on its own.',
    access: { secret: 'support' },
    audit: { none: 'nothing is saved' },
    body: PreviewInput,
    translated: true,
    reply: Preview,
    run: async (ctx, { body }) => previewRule(ctx, body.rule, await verbs.referencedCampaigns(ctx, [body.rule])),
  }),
  route({
    method: 'POST',
    path: '/api/client/users/search',
    summary: 'List the users who match a rule.',
    description:
      'The rule is evaluated on all stored data for each page: send the same `rule` with every `cursor`. `q` finds a substring of `external_id`, ' +
      '`email`, `phone` or `anonymous_id` among the users who match. Saves nothing; for a rule that you use often, create a list.',
    access: { secret: 'support' },
    audit: { none: 'nothing is saved' },
    list: matchListing,
    body: PreviewInput,
    translated: true,
    reply: MatchingUsers,
    run: async (ctx, { body: { rule }, page }) =>
      searchByRule(ctx, { rule, page, campaigns: await verbs.referencedCampaigns(ctx, [rule]) }),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/recount',
    summary: 'Recount a static list, or rebuild a dynamic list.',
    description: 'If a dynamic list is already being built, that build continues.',
    access: { secret: 'editor' },
    audit: { none: 'it counts again by the same rule' },
    params,
    translated: true,
    reply: List,
    status: 202,
    run: async (ctx, { params }) => {
      const list = await recountList(ctx, params.listId)
      return presentList(ctx, list, await verbs.referencedCampaigns(ctx, [list.rule]))
    },
  }),
]
