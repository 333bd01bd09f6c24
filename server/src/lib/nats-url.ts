/** The URL of NATS: one or several servers of a cluster, and how to sign in. */
export type NatsServers = {
  servers: string[]
  isEncrypted: boolean
  user?: string
  pass?: string
  token?: string
  /** The servers as text, without a password. */
  where: string
}

const NATS_URL = /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/?#]+)\/?$/

/** Reads `nats://user:password@host1:4222,host2:4222`; with `tls:` the connection must be encrypted. Null if the URL has another form. */
export function natsServers(url: string): NatsServers | null {
  const [, scheme, signIn = '', hosts = ''] = NATS_URL.exec(url) ?? []
  const servers = hosts.split(',')
  if (scheme === undefined || !servers.every((server) => server !== '' && URL.canParse(`nats://${server}`))) return null
  try {
    const [user = '', pass] = signIn.split(':').map(decodeURIComponent)
    return {
      servers,
      isEncrypted: scheme === 'tls',
      ...(signIn !== '' && (pass === undefined ? { token: user } : { user, pass })),
      where: servers.join(' or '),
    }
  } catch {
    return null
  }
}
