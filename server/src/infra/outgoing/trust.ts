/** The root certificates that outgoing connections trust. */
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

const contexts = new Map<string, SecureContext>()

/**
 * A TLS context that trusts `ca` (PEM) and the default roots. Cached, because reading about 150 roots costs more than a
 * connection.
 */
export function trustContext(ca: readonly string[]): SecureContext {
  const key = ca.join('\n')
  const context = contexts.get(key) ?? createSecureContext(ca.length > 0 ? { ca: [...getCACertificates('default'), ...ca] } : {})
  contexts.set(key, context)
  return context
}
