/** Sends a trigger campaign to a user on request, without an event. */
import { type Static, Type } from 'typebox'
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault } from '../../../lib/errors.ts'
import { type CampaignId, type MessageId, ulid } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { enqueueMessages, messagesOf } from '../../messages/index.ts'
import { Identifier, userByIds } from '../../users/index.ts'
import { getCampaign } from '../service.ts'
import { intentFor } from '../triggers.ts'
import { Data, Key } from './schema.ts'

export const DirectTrigger = Exact(
  {
    external_id: Type.Optional(Identifier),
    anonymous_id: Type.Optional(Identifier),
    data: Type.Optional(Data),
    key: Type.Optional(Key('Repeating a request with the same key sends no second message of this campaign to the user.')),
  },
  { examples: [{ external_id: 'ana', data: { code: '493021' }, key: 'login-7731' }] },
)
type DirectTrigger = Static<typeof DirectTrigger>

export const DirectlyTriggered = Exact({
  message_id: Type.Optional(IdOf<MessageId>({ description: 'The id of the message. Read it with getMessage.' })),
})
type DirectlyTriggered = Static<typeof DirectlyTriggered>

const RANDOM_BYTES = 10

/** Enqueues a message of a running trigger campaign for a user. Throws 404, 422. */
export function triggerCampaign(ctx: ProjectCtx, id: CampaignId, input: DirectTrigger): Promise<DirectlyTriggered> {
  return inTx(ctx, async (ctx) => {
    const campaign = await getCampaign(ctx, id)
    if (campaign.type === 'blast')
      throw fault('validation_failed', 'type', 'A campaign of the type `blast` is sent to lists. Schedule it instead.')
    if (campaign.state !== 'running')
      throw fault('validation_failed', 'state', `The campaign is \`${campaign.state}\`. Set \`state\` to \`running\` first.`)
    const userId = await userByIds(ctx, input)
    const now = ctx.clock.now()
    const event = { name: campaign.event_name ?? '', data: input.data ?? {}, created_at: now.toISOString() }
    const intent = intentFor(campaign, userId, `api:${input.key ?? ulid(now, ctx.secrets.random(RANDOM_BYTES))}`, event, now)
    await enqueueMessages(ctx, [intent])
    const message = (await messagesOf(ctx, id, [userId])).find(({ cause }) => cause === intent.cause)
    return message ? { message_id: message.id } : {}
  })
}
