import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { createLog } from './log.ts'

test('personal data and secrets are not logged, at any level of the fields', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  log.info(
    { email: 'kim@example.com', user: { phone: '+61400123456' }, deep: { headers: { authorization: 'Bearer sk_secret' } }, id: 7 },
    'test message',
  )
  expect(lines.join('')).not.toMatch(/kim@|61400|sk_secret/)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'info', msg: 'test message', id: 7, time: expect.any(String) })
})

test('each request is one line, with its ids but neither body nor key', async () => {
  const lines: string[] = []
  await using w = await world({ log: { write: (line) => lines.push(line) } })
  const { headers } = await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com' }])
  const [line, ...others] = lines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'request')
  expect(others).toEqual([])
  expect(line).toMatchObject({
    request_id: headers['x-request-id'],
    project_id: w.projectId,
    key_id: expect.any(Number),
    route: '/api/client/users/batch',
    status: 200,
  })
  expect(lines.join('')).not.toMatch(/kim|sk_/)
})
