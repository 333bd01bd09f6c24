import { ApiError } from './errors.ts'

const MESSAGES = {
  key_missing: 'Provide an API key in the Authorization header, as `Bearer <key>`.',
  key_empty: 'The Authorization header has no key after `Bearer`. Check that the variable that holds the key is set.',
  key_malformed: 'Provide exactly one Authorization header, as `Bearer <key>`.',
  key_invalid: 'Provide a valid API key in the Authorization header.',
  user_token_missing: 'Provide a user token in the X-Service-User-Token header.',
  user_token_invalid: 'The user token is not valid for this project. Create a new one.',
  user_token_expired: 'The user token has expired. Create a new one.',
  session_missing: 'Sign in to the console first.',
  session_invalid: 'The session has ended. Sign in again.',
}

/** A 401 as RFC 6750 defines it: the challenge contains an error only if the request had a credential. */
export function unauthenticated(problem: keyof typeof MESSAGES): ApiError {
  // The list of reasons is closed (D-ERR-1), and an empty key is no key.
  const reason = problem === 'key_empty' ? 'key_missing' : problem
  const hasCredential = reason !== 'key_missing' && reason !== 'user_token_missing' && reason !== 'session_missing'
  return new ApiError('authentication_required', MESSAGES[problem], {
    reason,
    headers: { 'www-authenticate': `Bearer realm="api"${hasCredential ? ', error="invalid_token"' : ''}` },
  })
}
