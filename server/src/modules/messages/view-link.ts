import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MessageId, ProjectId } from '../../lib/ids.ts'

const CONTEXT = 'view'

type Signing = { secrets: Pick<Ctx['secrets'], 'sign'> } & Pick<Ctx, 'baseUrl'>

/** The URL that shows an email in the browser. It is signed and opens only this message, without a login. */
export function viewUrlOf({ secrets, baseUrl }: Signing, projectId: ProjectId, messageId: MessageId): string {
  const text = `${projectId}-${messageId}`
  return `${baseUrl()}/v/${text}-${secrets.sign(text, CONTEXT)}`
}

const TEST = 'test'

/** The view URL of a test send, which is not stored: its page explains what the link does in a message. */
export const testViewUrlOf = ({ baseUrl }: Signing): string => `${baseUrl()}/v/${TEST}`

export const isTestToken = (token: string): boolean => token === TEST

/** The message of a view URL; null if its signature is wrong. */
export function readViewToken({ secrets }: Pick<Ctx, 'secrets'>, token: string): { projectId: ProjectId; messageId: MessageId } | null {
  const [, projectId, messageId, signature] = /^(\d{1,15})-(\d{1,15})-([\w-]{22})$/.exec(token) ?? []
  if (signature === undefined || !secrets.isSigned(`${projectId}-${messageId}`, signature, CONTEXT)) return null
  return { projectId: Number(projectId) as ProjectId, messageId: Number(messageId) as MessageId }
}
