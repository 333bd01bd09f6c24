/**
 * API keys and user tokens. Owns `api_keys` and `credentials_version`. Only the hash of a key is stored; its scope and role decide what it may
 * do. Promises: the value of a key is shown once; all processes refuse an archived key within five seconds; a user token becomes invalid when
 * the key that created it is archived.
 */
export { generateKey } from './key-format.ts'
export { archiveMemberKeys } from './member-keys.queries.ts'
export { archiveKeyReaching } from './operator.queries.ts'
export { listAllKeys } from './operator.ts'
export { countKeys, keyIdsOf } from './queries.ts'
export { keyRoutes } from './routes.ts'
export { archiveEveryKey, authenticate, findMemberKey, saveKey } from './service.ts'
export { mintUserToken, verifyUserToken } from './user-tokens.ts'
