import type { Authenticator } from './infra/route.ts'
import { unauthenticated } from './lib/credentials.ts'
import { authenticate, verifyUserToken } from './modules/keys/index.ts'
import { findSurvivor } from './modules/users/index.ts'

/** Keys say who calls; a user token says for whom, and follows a person that was merged into another (D-SESS-3). */
export const authenticator: Authenticator = {
  authenticate,
  async userOf(ctx, { projectId }, token) {
    const survivor = await findSurvivor(ctx, projectId, await verifyUserToken(ctx, projectId, token))
    if (survivor === undefined) throw unauthenticated('user_token_invalid')
    return survivor
  },
}
