/** Whose certificates outgoing connections believe: the usual roots, and perhaps one of ours. */
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

const contexts = new Map<string, SecureContext>()

/**
 * What a TLS connection trusts, `ca` (PEM) beside the usual roots. Made once for each `ca` of the process: reading some 150 roots
 * costs more than a connection.
 */
export function trustContext(ca: readonly string[]): SecureContext {
  const key = ca.join('\n')
  const context = contexts.get(key) ?? createSecureContext(ca.length > 0 ? { ca: [...getCACertificates('default'), ...ca] } : {})
  contexts.set(key, context)
  return context
}
