import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId } from '../../lib/ids.ts'
import { pathId, pathUser } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { requireUser } from '../users/index.ts'
import { consentRoutes } from './consents/routes.ts'
import { subscriptionListing, userSubscriptionListing } from './queries.ts'
import {
  OwnSubscriptionChanges,
  Subscription,
  SubscriptionChanges,
  SubscriptionInput,
  UserSubscription,
  UserSubscriptionChanges,
} from './schema.ts'
import { changeUserSubscriptions, createSubscription, getSubscription, listSubscriptions, listUserSubscriptions } from './service.ts'
import { suppressionRoutes } from './suppressions/routes.ts'
import { themeRoutes } from './theme/routes.ts'

const params = { subscriptionId: pathId<SubscriptionId>() }

/** Verbs that need other modules: a new default state rebuilds the lists that depend on it. */
type Verbs = { updateSubscription(ctx: ProjectCtx, id: SubscriptionId, changes: SubscriptionChanges): Promise<Subscription> }

export const subscriptionRoutes = ({ updateSubscription }: Verbs) => [
  route({
    method: 'GET',
    path: '/api/client/subscriptions',
    summary: 'List the subscription types of the project.',
    access: { secret: 'support' },
    list: subscriptionListing,
    reply: Page(Subscription),
    run: (ctx, { page }) => listSubscriptions(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/subscriptions',
    summary: 'Create a subscription type.',
    description:
      'Name and channel together are unique. With `default_state` 0, users get nothing before they subscribe. With ' +
      '`requires_confirmation`, whoever subscribes is asked to confirm: the event `subscription_confirmation_requested` on the user ' +
      'has the link in `data.confirm_url`, for a trigger campaign to send.',
    access: { secret: 'admin' },
    body: SubscriptionInput,
    reply: Subscription,
    status: 201,
    location: (subscription) => `/api/client/subscriptions/${subscription.id}`,
    run: (ctx, { body }) => createSubscription(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/subscriptions/{subscriptionId}',
    summary: 'Read a subscription type.',
    access: { secret: 'support' },
    params,
    reply: Subscription,
    run: (ctx, { params }) => getSubscription(ctx, params.subscriptionId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/subscriptions/{subscriptionId}',
    summary: 'Change a subscription type; only the members given change.',
    description:
      'A new `default_state` holds at once for every user for whom no state is stored, and so does `requires_confirmation`: users in ' +
      'state 1 get nothing before they confirm, and nobody is asked to by this change.',
    access: { secret: 'admin' },
    params,
    body: SubscriptionChanges,
    reply: Subscription,
    run: (ctx, { params, body }) => updateSubscription(ctx, params.subscriptionId, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/me/subscriptions',
    summary: 'List where the user of the session token stands with each public subscription type.',
    access: { publishable: 'user' },
    list: userSubscriptionListing,
    reply: Page(UserSubscription),
    run: (ctx, { page }) => listUserSubscriptions(ctx, { id: ctx.caller.userId, isThemself: true }, page),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/users/me/subscriptions',
    summary: 'Subscribe or unsubscribe the user of the session token.',
    description:
      'All items are applied or none; the answer is the first page of the states, at most 100. State 1 leaves a confirmed 2 as it ' +
      'is. Who unsubscribed from everything by mail or text message takes that back the same way: a session shows who somebody is, ' +
      'not that an address is theirs.',
    access: { publishable: 'user' },
    body: OwnSubscriptionChanges,
    reply: Page(UserSubscription),
    run: (ctx, { body, requestId }) => changeUserSubscriptions(ctx, { id: ctx.caller.userId, isThemself: true }, body, requestId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/subscriptions',
    summary: 'List where a user stands with each subscription type.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    list: userSubscriptionListing,
    reply: Page(UserSubscription),
    run: async (ctx, { params, page }) => {
      const { id } = await requireUser(ctx, params.userId)
      return listUserSubscriptions(ctx, { id, isThemself: false }, page)
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/client/users/{userId}/subscriptions',
    summary: 'Set where a user stands with subscription types.',
    description:
      'All items are applied or none; the answer is the first page of the states, at most 100. An address that is suppressed, also ' +
      'because the user unsubscribed from everything, stays so: see `/api/client/suppressions`.',
    access: { secret: 'editor' },
    params: { userId: pathUser },
    body: UserSubscriptionChanges,
    reply: Page(UserSubscription),
    run: async (ctx, { params, body, requestId }) => {
      const { id } = await requireUser(ctx, params.userId)
      return changeUserSubscriptions(ctx, { id, isThemself: false }, body, requestId)
    },
  }),
  ...consentRoutes,
  ...suppressionRoutes,
  ...themeRoutes,
]
