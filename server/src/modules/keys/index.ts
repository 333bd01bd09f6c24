/**
 * API keys and user tokens. Owns `api_keys`. A key is known by its hash alone; its scope and role decide what it may do.
 * Promises: the value of a key is shown once, an archived key is refused within five seconds everywhere,
 * and a user token dies with the key that minted it.
 */
export { generateKey } from './key-format.ts'
export { keyRoutes } from './routes.ts'
export { authenticate, saveKey } from './service.ts'
export { mintUserToken, verifyUserToken } from './user-tokens.ts'
