import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { someSecretKey, startChild } from '../child-server.ts'
import { cloneTemplate } from '../ground.ts'

/** The status and the body of a page, asked for at a host. */
async function pageAt(base: string, path: string, host: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  request(`${base}${path}`, { headers: { host } }, (reply) => {
    let body = ''
    reply.setEncoding('utf8')
    reply.on('data', (chunk: string) => {
      body += chunk
    })
    reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body }))
  })
    .on('error', reject)
    .end()
  return promise
}

test('the pages for developers are at the server, and not at the domains of links', async () => {
  await using closing = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-start-page-'))
  closing.defer(() => rm(dataDir, { recursive: true, force: true }))
  const DATABASE_URL = await cloneTemplate()
  const server = closing.use(await startChild({ dataDir, env: { BOOTSTRAP_SECRET_KEY: someSecretKey(), DATABASE_URL } }))
  const db = new pg.Client({ connectionString: DATABASE_URL })
  await db.connect()
  closing.defer(() => db.end())
  await db.query(`
    insert into domains (project_id, host, verification_token, is_verified, created_at, updated_at)
    select id, h.host, 'token', h.is_verified, now(), now()
    from projects, (values ('links.shop.test', true), ('new.shop.test', false)) as h(host, is_verified)`)
  const own = new URL(server.url).host
  for (const path of ['/', '/docs', '/docs/guides', '/openapi.json']) {
    for (const host of [own, 'new.shop.test', '10.0.0.5']) expect((await pageAt(server.url, path, host)).status, `${host}${path}`).toBe(200)
    const { status, body } = await pageAt(server.url, path, 'LINKS.shop.test:443')
    expect([status, JSON.parse(body).code], path).toEqual([404, 'resource_missing'])
  }
  expect((await pageAt(server.url, '/livez', 'links.shop.test')).status).toBe(200)
}, 60_000)
