import { expect, test } from 'vitest'
import type { KeyId, ProjectId, UserId } from '../../../lib/ids.ts'
import type { AcceptedRequest } from '../append.ts'
import { fromBytes, toBytes } from './log-entry.ts'

const request: AcceptedRequest = {
  projectId: 7 as ProjectId,
  kind: 'events',
  userId: null,
  requestId: 'req_1',
  receivedAt: new Date('2026-11-23T09:00:00.123Z'),
  items: 1,
  body: Buffer.from('[{"name":"é"}]\n\n{"not":"a head"}\n'),
}
const record = { keyId: 3 as KeyId, key: 'a "key"\\', fingerprint: 'f', expiresAt: new Date('2026-11-24T09:00:00.123Z') }

test.each<[string, AcceptedRequest]>([
  ['without a user and a record', request],
  ['of a user', { ...request, userId: 5 as UserId }],
  ['with a record', { ...request, record: { ...record, about: 'POST\n/api/client/events\n[]' } }],
  ['with a record of an earlier release', { ...request, record }],
  ['without a body', { ...request, body: Buffer.alloc(0) }],
])('a request %s comes back from its bytes', (_, given) => expect(fromBytes(toBytes(given))).toEqual(given))

test.each([
  ['nothing', ''],
  ['text', 'hello'],
  ['other JSON', '{"project":"seven"}\n[]'],
])('%s is no request', (_, text) => expect(() => fromBytes(Buffer.from(text))).toThrow())
