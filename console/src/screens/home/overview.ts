import type { Reply } from '@carillon/sdk'

/** What consoles show of a project: its problems, its channels, and whether what was accepted is applied. */
export const OVERVIEW = '/api/client/overview'
export type Overview = Reply<typeof OVERVIEW, 'get'>
type OfApi = Overview['problems'][number]

/** A problem with its place in the console; null where the reader may not open it. */
export type Problem = {
  id: string
  tone: 'bad' | 'warn'
  kind: OfApi['kind']
  name: string
  message: string
  to: string | null
  search?: object
}

/** What was set by hand or is only incomplete; the others lose messages or events. */
const WARNINGS: readonly OfApi['kind'][] = ['domain_problem', 'campaign_paused', 'mail_paused']

/** The screen on which a problem can be solved, below the project. */
function screenOf({ kind, object }: OfApi): Pick<Problem, 'to' | 'search'> {
  if (kind === 'mail_paused') return { to: 'mail-queue' }
  if (kind === 'items_parked' || kind === 'processing_late') return { to: 'system' }
  if (object?.type === 'webhook') return { to: `webhooks/${object.id}` }
  if (object?.type === 'domain') return { to: `domains/${object.id}` }
  if (object?.type === 'campaign') return { to: `campaigns/${object.id}` }
  return { to: 'messages', search: { channel: object?.id, state: kind === 'bounces_high' ? 'bounced' : 'failed' } }
}

/** The problems of a project as the console lists them, in the order of the API: what stops messages comes first. */
export const problemsOf = (project: number, isOwner: boolean, { problems }: Pick<Overview, 'problems'>): Problem[] =>
  problems.map((problem, index) => {
    const { to, search } = screenOf(problem)
    return {
      id: `${index} ${problem.kind}`,
      tone: WARNINGS.includes(problem.kind) ? 'warn' : 'bad',
      kind: problem.kind,
      name: problem.object?.name ?? '',
      message: problem.message,
      to: to === 'system' && !isOwner ? null : `/p/${project}/${to}`,
      ...(search && { search }),
    }
  })
