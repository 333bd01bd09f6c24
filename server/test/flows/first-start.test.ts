import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import { readConfig } from '../../src/infra/runtime/config.ts'
import { cloneTemplate } from '../ground.ts'

async function place() {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-first-'))
  const env = { DATABASE_URL: await cloneTemplate(), DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' }
  return {
    env,
    dataDir,
    start: (more: Record<string, string> = {}) => startApp(readConfig({ ...env, ...more }), 'all'),
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }),
  }
}

const status = async (app: App, path: string, key: string) =>
  (await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).status

describe('the first start on an empty database', () => {
  test('creates a project and three keys, shown once and stored in a file that only the owner can read', async () => {
    await using at = await place()
    await using app = await at.start()
    const path = join(at.dataDir, 'credentials.json')
    expect(app.credentials?.path).toBe(path)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const kept = JSON.parse(await readFile(path, 'utf8'))
    expect(kept).toEqual({
      organisation_key: app.credentials?.organisation_key,
      secret_key: app.credentials?.secret_key,
      publishable_key: app.credentials?.publishable_key,
    })
    expect(await status(app, '/api/client/projects', kept.organisation_key)).toBe(200)
    expect(await status(app, '/api/client/keys', kept.secret_key)).toBe(200)
    expect(await status(app, '/api/client/users/me', kept.publishable_key)).toBe(401)
    const listed = await fetch(`${app.url}/api/client/projects`, { headers: { authorization: `Bearer ${kept.organisation_key}` } })
    expect(await listed.json()).toMatchObject({ results: [{ name: 'Default' }] })
  })

  test('happens once: the next start creates nothing, and the keys still work', async () => {
    await using at = await place()
    const first = await at.start()
    await first.credentials?.shown()
    await first[Symbol.asyncDispose]()
    await using again = await at.start()
    expect(again.credentials).toBeUndefined()
    expect(await status(again, '/api/client/keys', first.credentials?.secret_key as string)).toBe(200)
  })

  test('two processes that start at once create one project', async () => {
    await using at = await place()
    const apps = await Promise.all([at.start(), at.start()])
    expect(apps.filter(({ credentials }) => credentials)).toHaveLength(1)
    for (const app of apps) await app[Symbol.asyncDispose]()
  })
})

test('the keys of the configuration exist after every start', async () => {
  await using at = await place()
  const keys = {
    BOOTSTRAP_ORG_KEY: 'ok_chosen_by_the_operator',
    BOOTSTRAP_SECRET_KEY: 'sk_chosen_by_the_operator',
    BOOTSTRAP_PUBLIC_KEY: 'pk_chosen_by_the_operator',
  }
  const first = await at.start(keys)
  expect(first.credentials).toMatchObject({ secret_key: keys.BOOTSTRAP_SECRET_KEY })
  await first[Symbol.asyncDispose]()
  await using later = await at.start({ ...keys, BOOTSTRAP_SECRET_KEY: 'sk_another_one_chosen_later' })
  expect(await status(later, '/api/client/keys', 'sk_another_one_chosen_later')).toBe(200)
  expect(await status(later, '/api/client/keys', keys.BOOTSTRAP_SECRET_KEY)).toBe(200)
})

test('a server refuses a database that a newer release has migrated', async () => {
  await using at = await place()
  const db = new pg.Client({ connectionString: at.env.DATABASE_URL })
  await db.connect()
  await db.query("insert into schema_migrations (version, name, checksum, applied_at) values (9999, 'from_the_future', 'x', now())")
  await db.end()
  await expect(at.start()).rejects.toThrow(/newer/)
})

describe('the link to the console', () => {
  const owner = (app: App, url = '') =>
    fetch(`${app.url}/api/console/owner`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: url.split('#token=')[1], email: 'kim@example.com', name: 'Kim', password: 'four unrelated words' }),
    })

  test('is new at each start, until there is an owner', async () => {
    await using at = await place()
    const first = await at.start({ PASSWORD_HASH_KIB: '8' })
    expect(first.owner?.url).toMatch(new RegExp(`^${first.url}/sign-in#token=[\\w-]{43}$`))
    await first[Symbol.asyncDispose]()
    const again = await at.start({ PASSWORD_HASH_KIB: '8' })
    expect(again.owner?.url.split('#')[1]).not.toBe(first.owner?.url.split('#')[1])
    expect((await owner(again, first.owner?.url)).status).toBe(200)
    await again[Symbol.asyncDispose]()
    await using last = await at.start()
    expect(last.owner).toBeUndefined()
  })

  test('is in a file in production, which only the owner of the process can read, and which goes with the link', async () => {
    await using at = await place()
    const production = {
      NODE_ENV: 'production',
      SECRETS_KEY: `a:${Buffer.alloc(32, 1).toString('base64')}`,
      SESSION_JWT_KEYS: `a:${'x'.repeat(32)}`,
      PASSWORD_HASH_KIB: '8',
    }
    const first = await at.start(production)
    const path = join(at.dataDir, 'console-link.txt')
    expect([first.owner?.path, (await stat(path)).mode & 0o777]).toEqual([path, 0o600])
    expect((await owner(first, (await readFile(path, 'utf8')).trim())).status).toBe(200)
    await first[Symbol.asyncDispose]()
    await using last = await at.start(production)
    expect(last.owner).toBeUndefined()
    await expect(stat(path)).rejects.toThrow(/ENOENT/)
  })
})
