/** What migrations write into rows of earlier releases. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { migrate } from '../../src/infra/postgres/migrate.ts'
import { withDatabase } from '../database.ts'

const MIGRATIONS = new URL('../../migrations/', import.meta.url)
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** A database as a release left it, whose last migration had this number. It is dropped at the end. */
async function databaseAt(version: number, name: string) {
  const url = withDatabase(inject('databaseUrl'), name)
  const directory = mkdtempSync(join(tmpdir(), 'carillon-test-'))
  for (const file of readdirSync(MIGRATIONS)) {
    if (Number(file.slice(0, 4)) <= version) writeFileSync(join(directory, file), readFileSync(new URL(file, MIGRATIONS)))
  }
  await run(inject('databaseUrl'), `create database ${name}`)
  await migrate(url, log, directory)
  return {
    query: (text: string) => run(url, text),
    upgrade: () => migrate(url, log),
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true, force: true })
      await run(inject('databaseUrl'), `drop database ${name} with (force)`)
    },
  }
}

async function run(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return (await client.query(text).finally(() => client.end())).rows
}

test('0012: system events of earlier releases get their source, and events of requests with the same name do not', async () => {
  await using database = await databaseAt(11, 'fill_event_sources')
  const events: [name: string, data: object, source: 'system' | null][] = [
    ['user_created', {}, 'system'],
    ['user_updated', { changed: ['email'] }, 'system'],
    ['list_entered', { list_id: 1 }, 'system'],
    ['list_left', { list_id: 1 }, 'system'],
    ['list_entered', { list: 1 }, null],
    ['email_sent', { campaign_id: 1, message_id: 2 }, 'system'],
    ['in_app_opened', { campaign_id: 1, message_id: 2, link: 'x' }, 'system'],
    ['email_sent', { campaign_id: 1 }, null],
    ['fax_sent', { campaign_id: 1, message_id: 2 }, null],
    ['subscribed', { subscription_id: 1 }, 'system'],
    ['unsubscribed', { subscription_id: 1 }, 'system'],
    ['subscription_confirmation_requested', { subscription_id: 1 }, 'system'],
    ['subscribed', { plan: 'pro' }, null],
    ['order_placed', { list_id: 1, campaign_id: 1, message_id: 2, subscription_id: 3 }, null],
  ]
  const rows = events.map(([name, data], at) => `(1, ${at}, '${name}', '${JSON.stringify(data)}', '2026-11-01', '2026-11-01')`)
  await database.query(`create table events_all partition of events default`)
  await database.query(`insert into events (project_id, user_id, name, data, created_at, received_at) values ${rows.join(', ')}`)
  await database.upgrade()
  const found = await database.query('select name, data, source from events order by user_id')
  expect(found.map(({ name, data, source }) => [name, data, source])).toEqual(events)
})
