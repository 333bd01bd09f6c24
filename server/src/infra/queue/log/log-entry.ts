/** How an accepted request is stored in a log: a line of JSON about it, and then its body as it was received. */
import { type Static, Type } from 'typebox'
import type { KeyId, ProjectId, UserId } from '../../../lib/ids.ts'
import { IdOf, Nullable } from '../../../lib/shapes.ts'
import { matches } from '../../../lib/validate.ts'
import type { AcceptedRequest } from '../append.ts'

const Milliseconds = Type.Integer()

const Head = Type.Object({
  project: IdOf<ProjectId>(),
  kind: Type.String(),
  user: Nullable(IdOf<UserId>()),
  request: Type.String(),
  at: Milliseconds,
  items: Type.Integer(),
  record: Type.Optional(
    Type.Object({
      key_id: IdOf<KeyId>(),
      key: Type.String(),
      fingerprint: Type.String(),
      about: Type.Optional(Type.String()),
      expires_at: Milliseconds,
    }),
  ),
})

const problemOf = matches(Head)
const LINE_END = 0x0a

/** The bytes of a request. */
export function toBytes({ projectId, kind, userId, requestId, receivedAt, items, body, record }: AcceptedRequest): Buffer {
  const head: Static<typeof Head> = {
    project: projectId,
    kind,
    user: userId,
    request: requestId,
    at: receivedAt.getTime(),
    items,
    ...(record && {
      record: {
        key_id: record.keyId,
        key: record.key,
        fingerprint: record.fingerprint,
        ...(record.about !== undefined && { about: record.about }),
        expires_at: record.expiresAt.getTime(),
      },
    }),
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
}

/** The request of these bytes. Throws if they are not one. */
export function fromBytes(bytes: Buffer): AcceptedRequest {
  const end = bytes.indexOf(LINE_END)
  const head: unknown = JSON.parse(bytes.toString('utf8', 0, Math.max(0, end)))
  const problem = problemOf(head)
  if (problem) throw new Error(problem)
  const { project, kind, user, request, at, items, record } = head as Static<typeof Head>
  return {
    projectId: project,
    kind,
    userId: user,
    requestId: request,
    receivedAt: new Date(at),
    items,
    body: bytes.subarray(end + 1),
    ...(record && {
      record: {
        keyId: record.key_id,
        key: record.key,
        fingerprint: record.fingerprint,
        about: record.about,
        expiresAt: new Date(record.expires_at),
      },
    }),
  }
}
