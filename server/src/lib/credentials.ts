import { ApiError } from './errors.ts'

const MESSAGES = {
  key_missing: 'Provide an API key in the Authorization header, as `Bearer <key>`.',
  key_malformed: 'Provide exactly one Authorization header, as `Bearer <key>`.',
  key_invalid: 'Provide a valid API key in the Authorization header.',
  user_token_missing: 'Provide a user token in the X-Service-User-Token header.',
  user_token_invalid: 'The user token is not valid for this project. Mint another one.',
  user_token_expired: 'The user token has expired. Mint another one.',
}

/** 401 as RFC 6750 wants it: the challenge names an error only when a credential was presented. */
export function unauthenticated(reason: keyof typeof MESSAGES): ApiError {
  const presented = reason !== 'key_missing' && reason !== 'user_token_missing'
  return new ApiError('authentication_required', MESSAGES[reason], {
    reason,
    headers: { 'www-authenticate': `Bearer realm="api"${presented ? ', error="invalid_token"' : ''}` },
  })
}
