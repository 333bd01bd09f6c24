import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MessageId, ProjectId } from '../../lib/ids.ts'

const CONTEXT = 'message key'

/**
 * The key of a message at providers (D-MSG-1), and the first part of its Message-ID: the same for every attempt, and unique to the message,
 * even if another database reuses its id. It reveals nothing, whereas ids would reveal how much a project sends.
 */
export const messageKey = (
  { secrets }: { secrets: Pick<Ctx['secrets'], 'sign'> },
  { project_id, id, created_at }: { project_id: ProjectId; id: MessageId; created_at: Date },
): string => secrets.sign(`${project_id}-${id}-${created_at.getTime()}`, CONTEXT)
