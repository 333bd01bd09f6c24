/** Incoming text messages: STOP, START and HELP. */
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { normalisePhone, phoneRegions, regionsOfPhone } from '../../lib/phone.ts'
import { findProject } from '../projects/index.ts'
import { isSubscribed } from './consent.ts'
import { unsubscribedTextTypes } from './consents/queries.ts'
import type { Evidence } from './consents/schema.ts'
import * as queries from './queries.ts'
import { readKeyword, repliesIn } from './read-keyword.ts'
import { writeStates } from './states.ts'
import { liftUnsubscribed } from './suppressions/opt-outs.ts'
import { suppress, suppressedAmong } from './suppressions/service.ts'
import { getTheme } from './theme/theme.ts'

/**
 * Acts on a text message that is only a keyword, for all users with the number. STOP unsubscribes them from every type of the channel and
 * suppresses the number; START restores what STOP, or unsubscribing from everything on a page, removed. Returns the reply, or null. A repeat
 * changes nothing. Its reply is that of the first time, and null for START, whose reply depends on what it changed.
 */
export async function receiveText(ctx: ProjectCtx, from: string, text: string, { isRepeat = false } = {}): Promise<string | null> {
  const regions = phoneRegions({}, ctx.project)
  const phone = normalisePhone(from, regions) ?? from
  const request = readKeyword(text, ctx.project.locale, [...regions, ...regionsOfPhone(phone)])
  if (!request) return null
  const evidence: Evidence = { source: 'text_keyword', proof: { keyword: request.word } }
  const project = await findProject(ctx, ctx.projectId)
  const brand = (await getTheme(ctx)).brand_name ?? project.name
  const replies = repliesIn(ctx.project.locale)
  const withBrand = (text: string) => text.replaceAll('{brand}', () => brand)
  // Earlier releases stored blank texts.
  const help = project.text_help_message?.trim() ? project.text_help_message : withBrand(replies.help)
  switch (request.what) {
    case 'help':
      return help
    case 'stop':
      if (!isRepeat) await inTx(ctx, (ctx) => stop(ctx, phone, evidence))
      return project.text_opt_out_message?.trim() ? project.text_opt_out_message : withBrand(replies.stopped)
    case 'start': {
      if (isRepeat) return null
      const became = await inTx(ctx, (ctx) => start(ctx, phone, evidence))
      // Without an earlier STOP, a word such as YES answers some other message.
      if (became === 'nothing') return null
      return became === 'started' ? withBrand(replies.started) : help
    }
    default:
      return request.what satisfies never
  }
}

const usersWith = async (ctx: InTx, phone: string): Promise<UserId[]> =>
  (await queries.lockByPhone(ctx, phone)).filter(({ is_there }) => is_there).map(({ id }) => id)

async function stop(ctx: InTx, phone: string, evidence: Evidence): Promise<void> {
  const users = await usersWith(ctx, phone)
  const types = await queries.typesOfChannel(ctx, 'text')
  const changes = users.flatMap((user_id) => types.map(({ id }) => ({ user_id, subscription_id: id, state: 0 as const })))
  await writeStates(ctx, changes, { ...evidence, proof: { ...evidence.proof, everything: true } })
  await suppress(ctx, [{ channel: 'text', address: phone, reason: 'unsubscribed_all', source: { by: evidence.source, ...evidence.proof } }])
}

/** Restores what STOP removed. `silent` if the users still get no text messages, such as when the number has another suppression. */
async function start(ctx: InTx, phone: string, evidence: Evidence): Promise<'nothing' | 'silent' | 'started'> {
  const users = await usersWith(ctx, phone)
  const isLifted = await liftUnsubscribed(ctx, [{ channel: 'text', address: phone }])
  const restored = await unsubscribedTextTypes(ctx, users)
  await writeStates(ctx, restored, evidence)
  if (!isLifted && restored.length === 0) return 'nothing'
  const isSuppressed = (await suppressedAmong(ctx, 'text', [phone])).size > 0
  return !isSuppressed && (users.length === 0 || (await getsTexts(ctx, users))) ? 'started' : 'silent'
}

/** Does any of these users get text messages? */
async function getsTexts(ctx: InTx, users: UserId[]): Promise<boolean> {
  const types = await queries.typesOfChannel(ctx, 'text')
  const pairs = users.flatMap((user_id) => types.map(({ id }) => ({ user_id, subscription_id: id })))
  return (await queries.subscriptionStates(ctx, pairs)).some(isSubscribed)
}
