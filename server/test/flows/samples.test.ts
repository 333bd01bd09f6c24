/** The samples of the API reference are sent as they are to a new project, in an order in which what their paths name exists. */
import { expect, test } from 'vitest'
import { apiDescription } from '../../src/api-description/index.ts'
import type { Media, Method, Operation } from '../../src/infra/http/openapi/types.ts'
import { sha256 } from '../../src/infra/runtime/secrets.ts'
import type { MemberId } from '../../src/lib/ids.ts'
import { VERSION } from '../../src/lib/versions.ts'
import { insertLink } from '../../src/modules/members/index.ts'
import { routes } from '../all-routes.ts'
import { subscriptionTo } from '../blasts.ts'
import { member } from '../members.ts'
import { select } from '../select.ts'
import { type Reply, type World, world } from '../world.ts'

const document = apiDescription({ routes, version: VERSION })

type Listed = { method: Method; path: string; operation: Operation }

const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Listed] => [
      operation.operationId,
      { method: method as Method, path, operation },
    ]),
  ),
)

const sampled = [...operations].filter(([, { operation }]) => operation.requestBody !== undefined).map(([id]) => id)

/** Samples that need what tests of samples do not have, such as other servers. */
const OUTSIDE: Record<string, string> = {
  spfLookup: 'It asks the DNS for the records of a domain.',
  tcpVerifier: 'It connects to a host.',
  confirmProfileTotp: 'It has a code of an authenticator app.',
  beginProfilePasskeys: 'It needs a server with a host name.',
  createProfilePasskey: 'It has what an authenticator signed.',
  removeProfilePasskey: 'It is about a passkey.',
  passkeySignIn: 'It has what an authenticator signed.',
  releaseSandboxMessage: 'It needs a server with a relay.',
  singleSignInSignOn: 'It has the answer of a provider.',
}

type Send = (id: string, params?: Record<string, unknown>) => Promise<Reply>

/** Sends the samples of operations to a world, with the key that each needs, and notes which were sent. */
function sender(w: World, token: () => Promise<string>): { send: Send; sent: Set<string> } {
  const sent = new Set<string>()
  const send: Send = async (id, params = {}) => {
    const { method, path, operation } = operations.get(id) as Listed
    const [[type, media] = ['', undefined]] = Object.entries(operation.requestBody?.content ?? {})
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(params[name] ?? exampleOfParameter(operation, name))),
    )
    const isForm = type === 'application/x-www-form-urlencoded'
    const text = typeof media?.example === 'string' ? media.example : JSON.stringify(media?.example)
    const reply = await w.request(method.toUpperCase(), url, undefined, {
      ...(await credentialsOf(w, operation, token)),
      ...(media && { raw: isForm ? String(new URLSearchParams(media.example as Record<string, string>)) : text }),
    })
    expect(reply.status, `${id}: ${reply.text}`).toBeLessThan(300)
    sent.add(id)
    return reply

    async function credentialsOf(w: World, { 'x-access': access }: Operation, token: () => Promise<string>) {
      const headers = { ...(media && { 'content-type': type }) }
      if ('secret' in access) return { key: w.keys.secret, headers }
      if ('organisation' in access) return { key: w.keys.organisation, headers }
      if ('open' in access) return { key: null, headers }
      if ('member' in access) return { key: null, headers: { ...headers, ...(await member(w, 'owner')).headers } }
      return { key: w.keys.public, headers: { ...headers, 'x-service-user-token': await token() } }
    }
  }
  return { send, sent }
}

/** The value of a path parameter in the reference. */
const exampleOfParameter = ({ parameters }: Operation, name: string): unknown =>
  parameters.flatMap((parameter) => ('name' in parameter && parameter.name === name ? [parameter.example] : []))[0]

const USER = { userId: 'customer-1042' }

async function usersAndProjects(w: World, send: Send) {
  const { body: project } = await send('createProject')
  await send('updateProject', { projectId: w.projectId })
  await send('createProjectKey', { projectId: project.id })
  await send('updateKey', { keyId: (await send('createKey')).body.id })
  await send('setAttribute')
  const { body } = await send('batchUsers')
  expect(body.failed).toBe(0)
  await send('updateUsers')
  await send('createEvents')
  await send('createDevice')
  await send('updateSubscription', { subscriptionId: (await send('createSubscription')).body.id })
  await send('updateUserSubscriptions', USER)
  await send('updateOwnUserSubscriptions')
  await send('createSuppressions')
  await send('setPageTheme')
  await send('previewPageTheme')
  await w.drain()
}

async function lists(w: World, send: Send) {
  await send('previewLists')
  await send('searchUsers')
  await send('updateList', { listId: (await send('createList')).body.id })
  const { id: listId } = (await w.post('/api/client/lists', { name: 'Customers', type: 'static' })).body
  await send('createListUser', { listId })
  await send('deleteListUsers', { listId })
  await send('importList', { listId })
}

/** A running trigger campaign of a channel. */
async function triggerCampaign(w: World, channel: 'email' | 'in_app', content: object): Promise<number> {
  const given = { type: 'trigger', name: 'Receipt', subscription_id: await subscriptionTo(w, channel), event_name: 'order_placed' }
  const { id } = (await w.post('/api/client/campaigns', given)).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, content)
  expect((await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })).status).toBe(200)
  return id
}

async function campaigns(w: World, send: Send) {
  const { id: campaignId } = (await send('createCampaign')).body
  await send('updateCampaign', { campaignId })
  await send('setCampaignTemplate', { campaignId })
  await send('setCampaignTemplateAttachment', { campaignId })
  await send('previewCampaign', { campaignId })
  await send('testCampaign', { campaignId })
  const text = { type: 'trigger', name: 'Parcel', subscription_id: await subscriptionTo(w, 'text'), event_name: 'parcel_sent' }
  await send('textCampaignSizes', { campaignId: (await w.post('/api/client/campaigns', text)).body.id })
  const receipt = await triggerCampaign(w, 'email', { from: 'shop@example.com', subject: 'Thanks', html: '<p>Thanks</p>' })
  await send('triggerCampaign', { campaignId: receipt })
  const reset = { type: 'trigger', name: 'Password reset', subscription_id: await subscriptionTo(w) }
  const { id: resetId } = (await w.post('/api/client/campaigns', reset)).body
  await w.put(`/api/client/campaigns/${resetId}/templates/en`, { from: 'shop@example.com', subject: 'Reset', html: '<p>Reset</p>' })
  await w.patch(`/api/client/campaigns/${resetId}`, { state: 'running' })
  await send('createMessage')
  await send('batchMessages')
  const inApp = await triggerCampaign(w, 'in_app', { title: 'Thanks', body: 'Thanks' })
  await send('triggerCampaign', { campaignId: inApp })
  await w.drain()
  const own = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('customer-1042') } }
  const { results } = (await w.get('/api/client/users/me/messages', own)).body
  await send('updateOwnUserMessage', { messageId: results[0].id })
}

/** A journey that the user of the samples is in. */
async function journeyWithUser(w: World, send: Send): Promise<{ journeyId: number }> {
  const { id: journeyId } = (await send('createJourney')).body
  await send('setJourneySteps', { journeyId })
  await send('publishJourney', { journeyId })
  await send('createJourneyEntrance', { journeyId })
  await w.drain()
  return { journeyId }
}

async function journeys(w: World, send: Send) {
  const { id: journeyId } = (await send('createJourney')).body
  await send('updateJourney', { journeyId })
  await send('setJourneySteps', { journeyId })
  await send('simulateJourney', { journeyId })
  await send('previewJourneyPublish', { journeyId })
  await send('backtestJourney', { journeyId })
  for (const action of ['skipJourneyUser', 'moveJourneyUser', 'retryJourneyUser']) {
    await send(action, { ...(await journeyWithUser(w, send)), ...USER })
  }
  await send('drainJourney', await journeyWithUser(w, send))
}

async function sending(send: Send) {
  await send('setSendingPolicy')
  await send('updateProvider', { providerId: (await send('createProvider')).body.id })
  const { id: domainId } = (await send('createDomain')).body
  await send('updateDomain', { domainId })
  await send('setDomainWarmUp', { domainId })
  const { id: endpointId } = (await send('createWebhook')).body
  await send('rotateWebhookSecret', { endpointId })
  await send('testWebhook', { endpointId })
  await send('setMailSite')
  await send('setSandboxFaultPolicy')
  for (const id of ['pauseMailQueue', 'resumeMailQueue', 'retryMailQueue', 'cancelMailQueue']) await send(id)
  await send('createWebhookReplay', { endpointId })
  await send('updateWebhook', { endpointId })
}

/** The link of the sample, which only its receiver knows. */
async function link(w: World, id: string, kind: 'owner' | 'invitation' | 'password', memberId: MemberId | null = null) {
  const [media] = Object.values(operations.get(id)?.operation.requestBody?.content ?? {})
  const { token } = (media as Media).example as { token: string }
  const expiresAt = new Date(w.clock.now().getTime() + 60_000)
  await insertLink(w.ctx, { tokenHash: sha256(token), kind, organisationId: w.organisationId, memberId, expiresAt })
}

async function console(w: World, send: Send) {
  await link(w, 'createOwner', 'owner')
  await send('createOwner')
  await send('signIn')
  await send('setPresence')
  await send('updateOrganisation')
  const { id: memberId } = (await send('createMember')).body
  await send('updateMember', { memberId })
  await link(w, 'acceptInvitation', 'invitation', memberId)
  await send('acceptInvitation')
  await send('lostPassword')
  await link(w, 'resetPassword', 'password', memberId)
  await send('resetPassword')
  for (const id of ['updateProfile', 'setProfilePassword', 'beginProfileTotp', 'removeProfileTotp']) await send(id)
}

test('every sample of a request succeeds in a new project', async () => {
  await using before = await world()
  // The subscription types of the first project of a server have the first ids.
  await select(before, `select setval(pg_get_serial_sequence('subscriptions', 'id'), 1, false)`)
  await using w = await world()
  const { send, sent } = sender(w, () => w.token('customer-1042'))
  await usersAndProjects(w, send)
  await lists(w, send)
  await campaigns(w, send)
  await journeys(w, send)
  await sending(send)
  await console(w, send)
  await send('deleteProject', { projectId: (await send('createProject')).body.id })
  for (const id of sampled.filter((id) => operations.get(id)?.path.startsWith('/api/ext/') && !(id in OUTSIDE))) await send(id)
  expect(sampled.filter((id) => !sent.has(id) && !(id in OUTSIDE))).toEqual([])
  expect(Object.keys(OUTSIDE).filter((id) => !sampled.includes(id))).toEqual([])
})
