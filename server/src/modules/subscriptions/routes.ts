import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId } from '../../lib/ids.ts'
import { pathId, pathUser, pathUserOrId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { namedUser, requireUser } from '../users/index.ts'
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

const subscriptionAudit = audits('subscription', { id: 'subscriptionId', read: getSubscription })

const params = { subscriptionId: pathId<SubscriptionId>() }

/** Functions that need other modules: a new default state rebuilds the lists that depend on it. */
type Verbs = { updateSubscription(ctx: ProjectCtx, id: SubscriptionId, changes: SubscriptionChanges): Promise<Subscription> }

export const subscriptionRoutes = ({ updateSubscription }: Verbs) => [
  route({
    method: 'GET',
    path: '/api/client/subscriptions',
    summary: 'List the subscription types of the project.',
    description: 'A new project has one type for each channel.',
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
      'Name and channel together are unique. With `default_state` 0, users get no messages before they subscribe. With ' +
      '`requires_confirmation`, users who subscribe get the event `subscription_confirmation_requested`. Its `data.confirm_url` is ' +
      'the confirmation link, for a trigger campaign to send.',
    access: { secret: 'admin' },
    audit: subscriptionAudit('created'),
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
    description: '`default_state` is the state of users who have no stored state.',
    access: { secret: 'support' },
    params,
    reply: Subscription,
    run: (ctx, { params }) => getSubscription(ctx, params.subscriptionId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/subscriptions/{subscriptionId}',
    summary: 'Change a subscription type.',
    description:
      'Omitted members keep their values. A new `default_state` applies at once to all users without a stored state. A new ' +
      '`requires_confirmation` applies at once too: users in state 1 get no messages until they confirm, and this change sends no ' +
      'confirmation requests. A new `is_transactional` changes the deadline of messages with `content` (createMessage) that are ' +
      'sent from then on, unless a publisher set another one.',
    access: { secret: 'admin' },
    audit: subscriptionAudit('updated'),
    params,
    body: SubscriptionChanges,
    reply: Subscription,
    run: (ctx, { params, body }) => updateSubscription(ctx, params.subscriptionId, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/me/subscriptions',
    summary: 'List the subscription states of the signed-in user.',
    description: 'Only public types are listed.',
    access: { publishable: 'user' },
    list: userSubscriptionListing,
    reply: Page(UserSubscription),
    run: (ctx, { page }) => listUserSubscriptions(ctx, { id: ctx.caller.userId, isThemself: true }, page),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/users/me/subscriptions',
    summary: 'Set subscription states of the signed-in user.',
    description:
      'Either all items are applied, or none are. The reply has the first page of states, at most 100. State 1 does not replace a confirmed ' +
      'state 2. This does not lift suppressions: a user who unsubscribed from everything must subscribe again on a hosted page or ' +
      'by text message, because a user token does not prove that an address belongs to the user.',
    access: { publishable: 'user' },
    audit: { none: 'consents of users have their own log' },
    body: OwnSubscriptionChanges,
    reply: Page(UserSubscription),
    run: (ctx, { body, requestId }) => changeUserSubscriptions(ctx, { id: ctx.caller.userId, isThemself: true }, body, requestId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/subscriptions',
    summary: 'List the subscription states of a user.',
    description:
      'Each type of the project is listed, with the default state where the user has none. `suppression` is the reason why no message of the ' +
      'type reaches the user.',
    access: { secret: 'support', organisation: 'admin' },
    params: { userId: pathUserOrId },
    list: userSubscriptionListing,
    reply: Page(UserSubscription),
    run: async (ctx, { params, page }) => {
      const named = await namedUser(ctx, params.userId)
      return listUserSubscriptions(named.ctx, { id: named.user.id, isThemself: false }, page)
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/client/users/{userId}/subscriptions',
    summary: 'Set subscription states of a user.',
    description:
      'Either all items are applied, or none are. The reply has the first page of states, at most 100. This does not lift suppressions, ' +
      'including those of users who unsubscribed from everything: `suppression` in the reply has the reason. ' +
      'Use `/api/client/suppressions` to lift it.',
    access: { secret: 'editor' },
    audit: { none: 'consents of users have their own log' },
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
