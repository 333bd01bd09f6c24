/** The limits of sending together: the rate of a campaign, that of its provider, and the room of the mail queue. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ReadyMessage } from './attempts.ts'
import { applyMailRoom, type MailRoomAsking } from './mail-room.ts'
import { applyRates, campaignRate, type Granted, giveBack, providerRate, type RateResult } from './rates.ts'

const rateOfCampaign = ({ eligible }: ReadyMessage) => campaignRate(eligible.campaign)
const rateOfProvider = ({ connection }: ReadyMessage) => providerRate(connection)

/** The rates that a message is counted against when it is sent. */
export const RATES = [rateOfCampaign, rateOfProvider]

/** Gives back what the rates granted to messages that are not sent after all. */
export async function giveBackRates(ctx: ProjectCtx, unsent: Iterable<ReadyMessage>, granted: Granted): Promise<void> {
  const items = [...unsent].map((item) => ({ item }))
  for (const rateOf of RATES) await giveBack(ctx, items, rateOf, granted)
}

/** Grants what all limits allow. What one of them refuses is not taken from the others: the campaign could not send it for an interval. */
export async function applyLimits(ctx: ProjectCtx, asking: MailRoomAsking, ready: ReadyMessage[]): Promise<RateResult<ReadyMessage>> {
  const byCampaign = await applyRates(ctx, ready, rateOfCampaign)
  const ofProvider = await applyRates(ctx, byCampaign.granted, rateOfProvider)
  const ofQueue = await applyMailRoom(ctx, asking, ofProvider.granted)
  await giveBack(ctx, [...ofProvider.refused, ...ofQueue.refused], rateOfCampaign, byCampaign)
  await giveBack(ctx, ofQueue.refused, rateOfProvider, ofProvider)
  return {
    granted: ofQueue.granted,
    refused: [...byCampaign.refused, ...ofProvider.refused, ...ofQueue.refused],
    grantedAtMs: new Map([...byCampaign.grantedAtMs, ...ofProvider.grantedAtMs]),
  }
}
