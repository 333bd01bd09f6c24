/** What the SMTP server for applications accepts: email of clients that logged in with a key (D-MTA-56). */

import { createRateLimits } from '../../../infra/http/rate-limits.ts'
import type { Authenticator } from '../../../infra/http/route.ts'
import type { SmtpProtocol, SmtpRefusal } from '../../../infra/incoming/smtp-listener.ts'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { KeyId } from '../../../lib/ids.ts'
import { submitMail } from './submit.ts'

/** A client that logged in. Its key is looked up again for each email, because a connection can outlive it. */
type Login = { submitter: Submitter; current(): Promise<Submitter | undefined> }

type Submitter = { ctx: ProjectCtx; keyId: KeyId }

const MAILS_PER_CONNECTION_MAX = 1000
/** A failed login waits, so that guessing is slow. */
const FAILED_LOGIN_MS = 1000
/** The prefix says nothing about the rights of a key (D-KEY-4). */
const KEY = /^(?:sk|pk)_[A-Za-z0-9_-]{16,250}$/
const ROLES: readonly string[] = ['smtpproxy', 'admin']

/** The protocol for one process, with rate limits of its own. */
export function submissionProtocol(ctx: Ctx, authenticate: Authenticator['authenticate']): SmtpProtocol<Login> {
  const limits = createRateLimits(ctx.config)
  const now = () => ctx.clock.now().getTime()
  return {
    async logIn(_, password, { address }) {
      const current = () => submitterOf(ctx, authenticate, password)
      const submitter = await current()
      if (submitter) return { login: { submitter, current } }
      const isLimited = exceeds(() => limits.failedAuthentication(address, now()))
      await ctx.clock.sleep(FAILED_LOGIN_MS)
      if (isLimited) return refusal(421, '4.7.0 Too many failed logins. Try again later.')
      return refusal(535, '5.7.8 The password must be a secret key of the project with the role smtpproxy or admin.')
    },
    async checkSender(_, { login, mails }) {
      if (mails >= MAILS_PER_CONNECTION_MAX) return refusal(421, '4.7.0 Too many emails on this connection. Connect again.')
      if (login && !(await login.current())) return KEY_ENDED
      const isLimited = exceeds(() => limits.spend(['submission'], String(login?.submitter.keyId), now()))
      return isLimited ? refusal(450, '4.7.1 Too many emails for this key. Try again in a second.') : undefined
    },
    checkRecipient: async () => undefined,
    async receive(mail, { login }) {
      if (!login) return refusal(530, '5.7.0 Log in first.')
      const submitter = await login.current()
      if (!submitter) return KEY_ENDED
      const id = await submitMail(submitter.ctx, submitter.keyId, mail)
      return typeof id === 'number' ? { accepted: `2.0.0 queued as ${id}` } : id
    },
  }
}

const refusal = (code: number, text: string): SmtpRefusal => ({ code, text })

/** The reply closes the connection. */
const KEY_ENDED = refusal(421, '4.7.0 The key of this connection can no longer submit email. Connect again, and log in with another key.')

/** Whether a rate limit refuses. */
function exceeds(spend: () => unknown): boolean {
  try {
    spend()
    return false
  } catch (error) {
    if (error instanceof ApiError) return true
    throw error
  }
}

/** The project and the key of a password; undefined if it may not submit email. */
async function submitterOf(ctx: Ctx, authenticate: Authenticator['authenticate'], password: string): Promise<Submitter | undefined> {
  if (!KEY.test(password)) return undefined
  try {
    const credential = await authenticate(ctx, password)
    if (credential.kind !== 'secret' || !ROLES.includes(credential.role)) return undefined
    const { keyId, projectId, project, role, actor } = credential
    return { keyId, ctx: { ...ctx, projectId, project, actor, caller: { kind: 'secret', keyId, role } } }
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
