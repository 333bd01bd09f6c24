/** What is wrong with the keys of the configuration, without the keys themselves. */
export function keyProblems({ SECRETS_KEY, SESSION_JWT_KEYS }: { SECRETS_KEY: string[]; SESSION_JWT_KEYS: string[] }): string[] {
  const encryption = SECRETS_KEY.filter((entry) => !isEncryptionKey(entry)).map(
    () => 'SECRETS_KEY must contain entries `id:base64`, each with 32 bytes (openssl rand -base64 32).',
  )
  const signing = SESSION_JWT_KEYS.filter((entry) => !/^[\w-]{1,32}:.{32,}$/.test(entry)).map(
    () => 'SESSION_JWT_KEYS must contain entries `kid:secret`, each secret with 32 or more characters.',
  )
  return [...new Set([...encryption, ...signing])]
}

const isEncryptionKey = (entry: string) => {
  const [, key] = /^[\w-]{1,32}:([A-Za-z0-9+/]+={0,2})$/.exec(entry) ?? []
  return key !== undefined && Buffer.from(key, 'base64').length === 32
}
