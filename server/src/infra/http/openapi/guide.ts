/** What applies to every operation, in Markdown: the introduction of the reference and of the API description. */
import { ORGANISATION_ROLES, ROLES } from '../../../lib/roles.ts'
import { VERSIONS } from '../../../lib/versions.ts'
import { LIMIT_DEFAULT } from '../paging.ts'

export type Section = { id: string; title: string; text: string }

const listed = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ')

export const GUIDE: Section[] = [
  {
    id: 'authentication',
    title: 'Authentication',
    text: `Send your key with every request, as \`Authorization: Bearer <key>\`. Its prefix shows its kind:

- \`sk_\` **secret**: everything in the project that the role of the key allows. For servers only.
- \`pk_\` **publishable**: the few operations that are safe in a browser or an app. Most of them also need a user token.
- \`ok_\` **organisation**: the projects of an organisation and their keys.

Each key has a role, and each operation lists the lowest role that may use it. The roles of a project are, from lowest to highest, ${listed(ROLES)}; a key with the role \`smtpproxy\` may send messages and read those that it sent, and nothing else. The roles of an organisation are ${listed(ORGANISATION_ROLES)}.

A **user token** lets an app call the API for one of its users. Your server creates it with [createUserSession](#createUserSession); your app sends it as \`X-Service-User-Token\`, together with a publishable key.`,
  },
  {
    id: 'requests',
    title: 'Requests and replies',
    text: `Request bodies are JSON in UTF-8. The utilities take form data instead, and imports take CSV. A body may be compressed with gzip, deflate or br. Unknown parameters are refused, so a misspelt name is reported and never ignored.

A \`PATCH\` changes only the members that it contains; null clears a member that can be null. Times are in ISO 8601 format. In replies, they are always in UTC. The ids of objects are integers.

Every reply has an \`X-Request-Id\`. Quote it when you report a problem.`,
  },
  {
    id: 'errors',
    title: 'Errors',
    text: `Every error has one of 16 codes and the same shape: \`code\` for programs, \`message\` for developers, and \`error.errors\`, which lists every fault in the request with its parameter. [The error reference](/docs/errors) explains each code. Rely on the code; messages may change.`,
  },
  {
    id: 'idempotency',
    title: 'Safe retries',
    text: `Send an \`Idempotency-Key\` that you choose, such as a UUID, with any write. The request then takes effect once, even if you send it several times. For 24 hours, the same key gets the same reply, with the header \`Idempotent-Replayed: true\`. The same key with a different request is refused. Server errors, and requests that were refused before they ran, are not stored, so you can correct the request and use the same key.`,
  },
  {
    id: 'if-match',
    title: 'Concurrent changes',
    text: 'When you read a campaign, a template, a list, a journey or its steps, the `ETag` header of the reply contains its version. When you change the object, send that version in `If-Match`. If another client has changed the object since, nothing is saved, and the reply has status 412 with the reason `changed`. Read the object again and repeat your change. `If-None-Match: *` creates a template only if there is none. Without these headers, the last change wins.',
  },
  {
    id: 'lists',
    title: 'Lists',
    text: `Lists are returned in pages of ${LIMIT_DEFAULT} items, or as many as you set in \`limit\`. For the next page, send \`nextCursor\` as \`cursor\`. On the last page, \`nextCursor\` is null. For the previous page, send \`prevCursor\` as \`cursor\` with \`page=prev\`. A cursor contains the \`sort\`, \`direction\` and \`q\` of its request, and does not expire. No row is repeated or skipped when other rows are added or deleted. \`limit=-1\` returns all items at once. If there are more than \`LIST_ALL_MAX\`, a setting of the server, the reply has status 422, and the list is read in pages.`,
  },
  {
    id: 'rate-limits',
    title: 'Rate limits',
    text: `Each key has limits. Requests with a user token are also limited per user, and requests with a publishable key per client address. Public pages are limited per client address. The headers \`RateLimit\` and \`RateLimit-Policy\` show how many requests are left, as do \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds). A refused request gets status 429 and a \`Retry-After\` in seconds.`,
  },
  {
    id: 'versions',
    title: 'Versions',
    text: `A version is a date. Supported: ${listed(VERSIONS)}. A project uses the version that was newest when the project was created. To use another version for a request, send it in the \`Service-Version\` header. The same header of every reply contains the version that was used. New operations, optional parameters and members of replies may be added without a new version.`,
  },
]

export const INTRODUCTION =
  'One server for email, text, push, webhook and in-app messages. This reference is generated from the server’s code, so it is complete.'
