/** What a restore does so that nothing is sent a second time. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { temporaryDir } from '../../test/child-server.ts'
import { createDatabase } from '../../test/ground.ts'
import { mailWorld } from '../../test/mail-queue.ts'
import { queueMail } from '../../test/queued-mail.ts'
import { rowsOf } from '../../test/statements.ts'
import { world } from '../../test/world.ts'
import { run as backUp } from './backup.ts'
import { run as restore } from './restore.ts'

const ENV = { LOG_LEVEL: 'silent' }
const QUEUE = '/api/client/mail-queue'

beforeAll(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})
afterAll(() => vi.restoreAllMocks())

const printed = () =>
  vi
    .mocked(process.stdout.write)
    .mock.calls.map(([text]) => text)
    .join('')

test('email that was in the mail queue at the backup and delivered afterwards is held after a restore, until it is resumed', async () => {
  await using dir = await temporaryDir()
  await using w = await mailWorld()
  w.internet.domain('example.org', 'mx.example.org')
  const own = { DNS_SERVERS: w.internet.dns.server, MTA_PORT: String(w.internet.mx.port) }
  // No campaign of it can be paused: applications submitted it over SMTP.
  await queueMail(w, { to: ['ana@example.org'] })
  const [folder, dataDir] = [join(dir.path, 'backup'), join(dir.path, 'data')]
  await mkdir(dataDir)
  await backUp([folder], { ...ENV, DATABASE_URL: w.databaseUrl, DATA_DIR: dataDir })
  await w.drain()
  const accepted = () => w.internet.mx.mails().flatMap(({ to }) => to)
  expect(accepted()).toEqual(['ana@example.org'])

  const target = await createDatabase()
  await restore([folder], { ...ENV, DATABASE_URL: target, DATA_DIR: join(dir.path, 'restored') })
  await using restored = await world({ env: own, through: async () => target })
  await restored.drain()
  expect(accepted()).toHaveLength(1)
  expect(printed()).toContain(`POST ${QUEUE}/resume`)
  const asBefore = { key: w.keys.secret }
  expect((await restored.get(`${QUEUE}/pauses`, asBefore)).body.results).toHaveLength(1)
  expect((await restored.post(`${QUEUE}/resume`, {}, asBefore)).status).toBe(204)
  await restored.drain()
  expect(accepted()).toHaveLength(2)
  expect(await rowsOf(target, 'select count(*)::int as waiting from mail_recipients where is_held')).toEqual([{ waiting: 0 }])
})

test('a backup of a newer release changes nothing in DATA_DIR, where the embedded PostgreSQL would be', async () => {
  await using dir = await temporaryDir()
  await using w = await world()
  const [folder, dataDir] = [join(dir.path, 'backup'), join(dir.path, 'data')]
  await mkdir(dataDir)
  await backUp([folder], { ...ENV, DATABASE_URL: w.databaseUrl, DATA_DIR: dataDir })
  const manifest = join(folder, 'backup.json')
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(/"schema_version": \d+/, '"schema_version": 9999'))
  await expect(restore([folder], { ...ENV, DATA_DIR: dataDir })).rejects.toThrow('The backup comes from a newer release')
  expect(await readdir(dataDir)).toEqual([])
  const absent = join(dir.path, 'absent')
  await expect(restore([folder], { ...ENV, DATA_DIR: absent })).rejects.toThrow('The backup comes from a newer release')
  expect(await readdir(dir.path)).not.toContain('absent')
})
