/** The requests that webhook endpoints get: the envelope of every event, and the data of its type. */
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import type { Webhook } from '../infra/http/openapi/words.ts'
import { Exact, IdOf, Timestamp } from '../lib/shapes.ts'
import { LATEST_VERSION, VERSIONS } from '../lib/versions.ts'
import { webhookEvents } from '../modules/webhook-events/index.ts'

type Kind = { type: string; summary: string; data: TSchema; sample: unknown }

const EVENT_ID = 'evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X'
const TIMESTAMP = '2026-11-20T02:56:21.664Z'

/** Every type, in alphabetical order. */
export const webhooks = (): Webhook[] =>
  Object.values(webhookEvents as unknown as Record<string, Kind>)
    .map(webhookOf)
    .toSorted((a, b) => (a.type < b.type ? -1 : 1))

const webhookOf = ({ type, summary, data, sample }: Kind): Webhook => ({
  type,
  summary,
  description: `Sent to each endpoint that subscribes to \`${type}\`. If the reply is not 2xx, the delivery is retried.`,
  name: nameOf(type),
  payload: Exact(
    {
      id: Type.String({ description: 'Id of the event. The same event may arrive more than once, always with this id.' }),
      type: Type.Literal(type, { description: 'The event type.' }),
      timestamp: { ...Timestamp, description: 'When it happened.' } as typeof Timestamp,
      project_id: IdOf({ description: 'Id of the project.' }),
      api_version: Type.String({ enum: [...VERSIONS], description: 'The API version that the payload follows.' }),
      test: Type.Optional(Type.Literal(true, { description: 'Present in test events, whose data is a sample.' })),
      data: { ...data, description: 'What happened. Optional members are present only if their values are known.' } as TSchema,
    },
    { additionalProperties: true },
  ),
  example: {
    id: EVENT_ID,
    type,
    timestamp: TIMESTAMP,
    project_id: 1,
    api_version: LATEST_VERSION,
    data: JSON.parse(JSON.stringify(sample)),
  },
})

/** Turns `delivery.dsn-perm-fail` into `DeliveryDsnPermFailEvent`. */
const nameOf = (type: string) => `${type.replace(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`
