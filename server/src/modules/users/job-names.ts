/** The jobs of users that a request wakes. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const ERASE: JobName = { name: 'users.erase' }
export const PROFILE: JobName = { name: 'users.profile-attributes' }
