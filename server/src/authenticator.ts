import type { Authenticator } from './infra/http/route.ts'
import { unauthenticated } from './lib/credentials.ts'
import { authenticate, verifyUserToken } from './modules/keys/index.ts'
import { memberCredential, peekSession, sessionOf } from './modules/members/index.ts'
import { findMergedInto } from './modules/users/index.ts'

/** Authenticates keys, user tokens and sessions of members. The token of a merged user stands for the remaining user (D-SESS-3). */
export const authenticator: Authenticator = {
  authenticate,
  sessionOf,
  peekSession,
  memberCredential,
  async userOf(ctx, { projectId }, token) {
    const [found] = await findMergedInto(ctx, projectId, [await verifyUserToken(ctx, projectId, token)])
    if (!found) throw unauthenticated('user_token_invalid')
    return found.merged_into
  },
}
