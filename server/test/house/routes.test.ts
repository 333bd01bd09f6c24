import type { TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { routes } from '../all-routes.ts'

/** The endpoints that the specification requires. */
const SPECIFIED = `
GET /api/client/keys/{keyId}
PATCH /api/client/keys/{keyId}
POST /api/client/projects
GET /api/client/projects
PATCH /api/client/projects/{projectId}
POST /api/client/users/batch
PATCH /api/client/users
GET /api/client/users
GET /api/client/users/{userId}
GET /api/client/users/me
GET /api/client/users/{userId}/subscriptions
POST /api/client/events
GET /api/client/campaigns
POST /api/client/journeys
PUT /api/client/journeys/{journeyId}/steps
GET /api/client/subscriptions
POST /api/client/webhooks
GET /api/client/webhooks
POST /api/client/webhooks/{endpointId}/rotate-secret
POST /api/client/users/{userId}/sessions
POST /api/ext/generic/data/generate/lorem
POST /api/ext/generic/data/generate/commerce
POST /api/ext/generic/data/generate/food
POST /api/ext/generic/data/generate/contact
POST /api/ext/generic/text/sentiment-score
POST /api/ext/generic/sms/phone-mobile-syntax-validator
POST /api/ext/generic/email/spf-lookup
POST /api/ext/generic/dns/tcp-verifier`

/** The other endpoints, by decision. */
const DECIDED = `
D-KEY-6 POST /api/client/projects/{projectId}/keys
D-KEY-7 POST /api/client/keys
D-KEY-7 GET /api/client/keys
D-KEY-7 DELETE /api/client/keys/{keyId}
D-PROJ-4 GET /api/client/projects/{projectId}
D-PROJ-4 GET /api/client/projects/me
D-PROJ-5 GET /api/client/projects/{projectId}/size
D-PROJ-5 DELETE /api/client/projects/{projectId}
D-ATTR-1 GET /api/client/attributes
D-ATTR-1 PUT /api/client/attributes/{key}
D-ATTR-1 DELETE /api/client/attributes/{key}
D-UREAD-1 DELETE /api/client/users/{userId}
D-UREAD-2 GET /api/client/users/{userId}/export
D-UREAD-3 GET /api/client/users/erasures/{erasureId}
D-UREAD-1 POST /api/client/devices
D-USUB-1 PATCH /api/client/users/{userId}/subscriptions
D-PK-1 GET /api/client/users/me/subscriptions
D-PK-1 PATCH /api/client/users/me/subscriptions
D-CAMP-2 POST /api/client/campaigns
D-CAMP-2 GET /api/client/campaigns/{campaignId}
D-CAMP-2 PATCH /api/client/campaigns/{campaignId}
D-CAMP-2 DELETE /api/client/campaigns/{campaignId}
D-CAMP-2 POST /api/client/campaigns/{campaignId}/duplicate
D-ARCH-1 POST /api/client/campaigns/{campaignId}/unarchive
D-ARCH-1 POST /api/client/journeys/{journeyId}/unarchive
D-ARCH-1 POST /api/client/lists/{listId}/unarchive
D-CAMP-2 GET /api/client/campaigns/{campaignId}/templates
D-CAMP-9 GET /api/client/templates
D-HTTP-11 GET /api/client/campaigns/{campaignId}/templates/{locale}
D-CAMP-2 PUT /api/client/campaigns/{campaignId}/templates/{locale}
D-CAMP-2 DELETE /api/client/campaigns/{campaignId}/templates/{locale}
D-TPL-5 GET /api/client/campaigns/{campaignId}/templates/{locale}/versions
D-TPL-5 GET /api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}
D-TPL-5 POST /api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}/restore
D-TPL-4 GET /api/client/campaigns/{campaignId}/templates/{locale}/attachments
D-TPL-4 GET /api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}
D-TPL-4 PUT /api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}
D-TPL-4 DELETE /api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}
D-JRN-1 GET /api/client/journeys
D-JRN-1 GET /api/client/journeys/{journeyId}
D-JRN-1 PATCH /api/client/journeys/{journeyId}
D-JRN-1 DELETE /api/client/journeys/{journeyId}
D-JRN-2 GET /api/client/journeys/{journeyId}/steps
D-JRN-3 GET /api/client/journeys/meta
D-JRN-5 POST /api/client/journeys/{journeyId}/publish
D-JRN-5 POST /api/client/journeys/{journeyId}/publish/preview
D-JRN-5 GET /api/client/journeys/{journeyId}/versions
D-JRN-5 GET /api/client/journeys/{journeyId}/versions/{version}
D-JRN-5 GET /api/client/journeys/{journeyId}/diff
D-JRN-6 POST /api/client/journeys/{journeyId}/drain
D-JRN-6 POST /api/client/journeys/{journeyId}/stop
D-JRN-6 POST /api/client/journeys/{journeyId}/hold
D-JRN-6 POST /api/client/journeys/{journeyId}/resume
D-JRN-7 POST /api/client/journeys/{journeyId}/entrances
D-JRN-7 POST /api/client/journeys/{journeyId}/users/{userId}/move
D-JRN-7 POST /api/client/journeys/{journeyId}/users/{userId}/skip
D-JRN-7 POST /api/client/journeys/{journeyId}/users/{userId}/retry
D-JRN-7 DELETE /api/client/journeys/{journeyId}/users/{userId}
D-JRN-9 GET /api/client/journeys/{journeyId}/stats
D-JRN-9 GET /api/client/journeys/{journeyId}/users
D-JRN-9 GET /api/client/journeys/{journeyId}/users/{userId}
D-JRN-9 GET /api/client/journeys/{journeyId}/users/{userId}/explain
D-JRN-17 POST /api/client/journeys/{journeyId}/simulate
D-JRN-18 POST /api/client/journeys/{journeyId}/backtest
D-JRN-18 GET /api/client/journeys/{journeyId}/backtests/{backtestId}
D-JRN-18 DELETE /api/client/journeys/{journeyId}/backtests/{backtestId}
D-SUB-1 POST /api/client/subscriptions
D-SUB-1 GET /api/client/subscriptions/{subscriptionId}
D-SUB-1 PATCH /api/client/subscriptions/{subscriptionId}
D-WH-1 GET /api/client/webhooks/{endpointId}
D-WH-1 PATCH /api/client/webhooks/{endpointId}
D-WH-1 DELETE /api/client/webhooks/{endpointId}
D-WH-1 POST /api/client/webhooks/{endpointId}/test
D-WH-1 GET /api/client/webhooks/{endpointId}/deliveries
D-WH-1 GET /api/client/webhooks/{endpointId}/deliveries/{deliveryId}
D-WH-1 POST /api/client/webhooks/{endpointId}/deliveries/{deliveryId}/resend
D-MTA-58 GET /api/client/mail-site-days
D-MTA-33 GET /api/client/mail-sites
D-MTA-33 GET /api/client/mail-sites/{site}
D-MTA-33 PUT /api/client/mail-sites/{site}
D-WH-7 GET /api/client/webhooks/attempts
D-WH-6 POST /api/client/webhooks/{endpointId}/replays
D-WH-6 GET /api/client/webhooks/{endpointId}/replays
lists GET /api/client/lists
lists POST /api/client/lists
lists GET /api/client/lists/{listId}
lists PATCH /api/client/lists/{listId}
lists DELETE /api/client/lists/{listId}
lists GET /api/client/lists/{listId}/users
lists POST /api/client/lists/{listId}/users
lists DELETE /api/client/lists/{listId}/users
lists GET /api/client/lists/{listId}/users/{userId}/explain
D-JRN-9 GET /api/client/users/{userId}/journeys
lists POST /api/client/lists/preview
lists POST /api/client/users/search
lists GET /api/client/lists/sizes
lists GET /api/client/lists/tags
lists POST /api/client/lists/{listId}/recount
lists POST /api/client/lists/{listId}/import
lists GET /api/client/lists/{listId}/imports
lists GET /api/client/lists/{listId}/imports/{importId}
lists POST /api/client/lists/{listId}/imports/{importId}/cancel
lists POST /api/client/lists/{listId}/imports/{importId}/undo
lists GET /api/client/lists/{listId}/imports/{importId}/errors
D-RULE-1 GET /api/client/rules/meta
events GET /api/client/users/{userId}/events
events GET /api/client/events/stats
events GET /api/client/schema/events
attributes GET /api/client/schema/attributes
sandbox GET /api/client/sandbox/messages
sandbox GET /api/client/sandbox/messages/{messageId}
sandbox GET /api/client/sandbox/messages/{messageId}/check
D-SBX-3 GET /api/client/sandbox/fault-policy
D-SBX-3 PUT /api/client/sandbox/fault-policy
D-SBX-1 POST /api/client/sandbox/messages/{messageId}/release
sandbox DELETE /api/client/sandbox/messages
campaigns GET /api/client/campaigns/{campaignId}/delivery
campaigns GET /api/client/campaigns/{campaignId}/lint
campaigns POST /api/client/campaigns/{campaignId}/pause
campaigns POST /api/client/campaigns/{campaignId}/preflights
campaigns GET /api/client/campaigns/{campaignId}/preflights/{preflightId}
campaigns POST /api/client/campaigns/{campaignId}/text-sizes
campaigns POST /api/client/campaigns/{campaignId}/preview
campaigns GET /api/client/campaigns/{campaignId}/recipients
campaigns GET /api/client/campaigns/{campaignId}/recipients/{userId}/explain
campaigns POST /api/client/campaigns/{campaignId}/resume
campaigns POST /api/client/campaigns/{campaignId}/test
campaigns POST /api/client/campaigns/{campaignId}/trigger
D-MSG-2 POST /api/client/messages
D-MSG-2 POST /api/client/messages/batch
D-MSG-6 GET /api/client/activity
D-CON-20 GET /api/client/audit
D-CON-22 GET /api/client/audit/check
D-CON-36 GET /api/client/requests
D-CON-24 GET /api/client/overview
D-CON-34 GET /api/client/reports/messages
D-CON-25 GET /api/client/search
D-CON-26 GET /api/client/users/{userId}/reachability
D-CON-27 GET /api/client/users/{userId}/timeline
D-CON-38 GET /api/client/users/{userId}/lists
D-CON-29 GET /api/client/stream
D-MSG-3 GET /api/client/messages
D-MSG-3 GET /api/client/messages/{messageId}
D-MSG-9 POST /api/client/messages/{messageId}/resend
consent GET /api/client/page-theme
consent PUT /api/client/page-theme
consent POST /api/client/page-theme/preview
consent GET /api/client/suppressions
consent POST /api/client/suppressions
consent DELETE /api/client/suppressions/{suppressionId}
consent GET /api/client/users/{userId}/consents
inbox GET /api/client/users/me/messages
inbox POST /api/client/users/me/messages/read-all
inbox GET /api/client/users/me/messages/stream
inbox GET /api/client/users/me/messages/unread-count
inbox PATCH /api/client/users/me/messages/{messageId}
inbox GET /api/client/users/{userId}/messages
providers GET /api/client/providers
providers POST /api/client/providers
providers GET /api/client/providers/meta
providers DELETE /api/client/providers/{providerId}
providers GET /api/client/providers/{providerId}
providers PATCH /api/client/providers/{providerId}
providers POST /api/client/providers/{providerId}/test
sending GET /api/client/sending-policy
sending PUT /api/client/sending-policy
D-MTA-5 GET /api/client/mail-queue
D-MTA-5 GET /api/client/mail-queue/pauses
D-MTA-5 POST /api/client/mail-queue/pause
D-MTA-5 POST /api/client/mail-queue/resume
D-MTA-5 POST /api/client/mail-queue/retry
D-MTA-5 POST /api/client/mail-queue/cancel
tracking GET /api/client/campaigns/{campaignId}/links
D-CON-2 POST /api/console/owner
D-CON-7 POST /api/console/sign-in
D-CON-3 POST /api/console/sign-out
D-CON-3 GET /api/console/session
D-CON-3 GET /api/console/session/end
D-CON-3 PUT /api/console/presence
D-CON-3 GET /api/console/sessions
D-CON-3 DELETE /api/console/sessions/{sessionId}
D-CON-9 GET /api/console/sign-in
D-CON-9 GET /api/console/members
D-CON-9 POST /api/console/members
D-CON-9 GET /api/console/members/{memberId}
D-CON-9 PATCH /api/console/members/{memberId}
D-CON-9 DELETE /api/console/members/{memberId}
D-CON-9 POST /api/console/members/{memberId}/invite
D-CON-9 POST /api/console/accept-invitation
D-CON-32 PATCH /api/console/organisation
D-CON-33 GET /api/console/system
D-CON-10 GET /api/console/profile
D-CON-10 PATCH /api/console/profile
D-CON-10 PUT /api/console/profile/password
D-CON-10 POST /api/console/lost-password
D-CON-10 POST /api/console/reset-password
D-CON-8 POST /api/console/profile/totp/begin
D-CON-8 POST /api/console/profile/totp/confirm
D-CON-8 POST /api/console/profile/totp/remove
D-CON-11 GET /api/console/profile/passkeys
D-CON-11 POST /api/console/profile/passkeys/begin
D-CON-11 POST /api/console/profile/passkeys
D-CON-11 POST /api/console/profile/passkeys/{passkeyId}/remove
D-CON-11 POST /api/console/sign-in/passkey/begin
D-CON-11 POST /api/console/sign-in/passkey
D-CON-12 POST /api/console/sign-in/single-sign-on/begin
D-CON-12 POST /api/console/sign-in/single-sign-on
D-MTA-24 GET /api/client/tls-results
domains GET /api/client/domains
domains POST /api/client/domains
domains DELETE /api/client/domains/{domainId}
domains GET /api/client/domains/{domainId}
domains PATCH /api/client/domains/{domainId}
domains POST /api/client/domains/{domainId}/verify
D-MTA-41 POST /api/client/domains/{domainId}/rotate-keys
D-MTA-40 GET /api/client/domains/{domainId}/zone-file
D-MTA-45 GET /api/client/domains/{domainId}/warm-up
D-MTA-45 PUT /api/client/domains/{domainId}/warm-up`

const lines = (text: string) => text.trim().split('\n')
const registered = routes.map(({ method, path }) => `${method} ${path}`)

describe('routes', () => {
  test('every endpoint of the specification is registered', () => {
    expect(lines(SPECIFIED).filter((route) => !registered.includes(route))).toEqual([])
  })

  test('every other endpoint is decided, and every decided endpoint exists', () => {
    const decided = lines(DECIDED).map((line) => line.slice(line.indexOf(' ') + 1))
    expect([...registered].sort()).toEqual([...lines(SPECIFIED), ...decided].sort())
  })

  test.each(routes)('$method $path is described in one sentence', ({ summary }) => {
    expect(summary).toMatch(/^[A-Z][^\n]{5,118}\.$/)
  })

  test('routes with 204 have no reply schema, and all others have one', () => {
    expect(routes.filter(({ status, reply }) => (status === 204) !== (reply === undefined)).map(({ path }) => path)).toEqual([])
  })

  test('a list of things that are translated is translated too', () => {
    const translated = new Set(routes.filter((route) => route.translated).map(({ reply }) => reply))
    expect(translated.size).toBeGreaterThan(3)
    const itemOf = (reply: unknown) => (reply as { properties?: { results?: { items?: TSchema } } })?.properties?.results?.items
    const others = routes.filter(({ translated: is, reply }) => !is && (translated.has(reply) || translated.has(itemOf(reply))))
    expect(others.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })
})
