/** Whose warm-up plan an email counts to. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { domainOf } from '../../channels/index.ts'
import type { WarmUpTarget } from '../../domains/index.ts'
import type { MailRow } from '../../mta/index.ts'

/**
 * The warm-up target of an email. If this server has several source addresses, the target has none, because the connection chooses one of
 * them later.
 */
export function warmUpTarget({ config }: Pick<ProjectCtx, 'config'>, mail: MailRow, site: string): WarmUpTarget {
  const [address = '', ...others] = config.MTA_SOURCE_ADDRESSES
  return { fromDomain: domainOf(mail.mail_from), site, sourceAddress: others.length === 0 ? address : '' }
}
