/** What is wrong with the keys of the configuration, without the keys themselves. */
export function keyProblems({ SECRETS_KEY, SESSION_JWT_KEYS }: { SECRETS_KEY: string[]; SESSION_JWT_KEYS: string[] }): string[] {
  const encryption = SECRETS_KEY.filter((entry) => !isEncryptionKey(entry)).map(
    () => 'SECRETS_KEY must contain entries `id:base64`, each with 32 bytes (openssl rand -base64 32).',
  )
  const signing = SESSION_JWT_KEYS.filter((entry) => !/^[\w-]{1,32}:.{32,}$/.test(entry)).map(
    () => 'SESSION_JWT_KEYS must contain entries `kid:secret`, each secret with 32 or more characters.',
  )
  const repeated = Object.entries({ SECRETS_KEY, SESSION_JWT_KEYS }).flatMap(([name, entries]) =>
    repeatedIds(entries).map((id) => `${name} has two keys with the id \`${id}\`. Give the new key another id.`),
  )
  return [...new Set([...encryption, ...signing, ...repeated])]
}

/** An id finds one key only, so that another one with it would not be used. */
function repeatedIds(entries: string[]): string[] {
  const ids = entries.flatMap((entry) => /^([\w-]{1,32}):/.exec(entry)?.[1] ?? [])
  return ids.filter((id, at) => ids.indexOf(id) < at)
}

const isEncryptionKey = (entry: string) => {
  const [, key] = /^[\w-]{1,32}:([A-Za-z0-9+/]+={0,2})$/.exec(entry) ?? []
  return key !== undefined && Buffer.from(key, 'base64').length === 32
}
