import { type Static, Type } from 'typebox'
import { Exact, Nullable, Timestamp } from '../../lib/shapes.ts'

const When = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })
const Bytes = (description: string) => Type.Integer({ description })

const QueueDepth = Exact(
  {
    name: Type.String({ description: 'The name of the queue, as in the metrics.' }),
    waiting: Type.Integer({
      description: 'The number of waiting requests, messages, emails or deliveries. For requests it is an estimate.',
    }),
    oldest_at: Nullable(When('When the oldest item became due; null if none is due.')),
  },
  { title: 'SystemQueue' },
)
export type QueueDepth = Static<typeof QueueDepth>

export const RETAINED = [
  'MESSAGE_RETENTION_DAYS',
  'SANDBOX_RETENTION_DAYS',
  'EVENT_RETENTION_MONTHS',
  'JOURNEY_HISTORY_DAYS',
  'JOURNEY_KEY_RETENTION_DAYS',
  'AUDIT_RETENTION_DAYS',
  'PARKED_RETENTION_DAYS',
  'API_LOG_RETENTION_DAYS',
] as const

export const System = Exact(
  {
    version: Type.String({ description: 'The release of Carillon.' }),
    node_version: Type.String({ description: 'The version of Node.js.' }),
    is_production: Type.Boolean({ description: 'Whether the production profile is active.' }),
    database: Exact(
      {
        version: Type.String({ description: 'The version of PostgreSQL.' }),
        is_embedded: Type.Boolean({ description: 'Whether it is the embedded PostgreSQL.' }),
        is_durable: Type.Boolean({ description: 'Whether commits survive a power failure.' }),
        size_bytes: Bytes('The size of the database on disk.'),
        tables: Type.Array(
          Exact(
            {
              name: Type.String({ description: 'The name of the table. A partitioned table is listed with all of its partitions.' }),
              size_bytes: Bytes('The size of the table with its indexes.'),
            },
            { title: 'SystemTable' },
          ),
          { description: 'The eight largest tables.' },
        ),
      },
      { title: 'SystemDatabase', description: 'The database.' },
    ),
    migrations: Exact(
      {
        applied: Type.Integer({ description: 'The number of the last migration that was applied.' }),
        name: Type.String({ description: 'The name of that migration.' }),
        applied_at: When('When it was applied.'),
        expected: Type.Integer({ description: 'The number of the last migration of this release.' }),
      },
      { title: 'SystemMigrations', description: 'The schema of the database.' },
    ),
    queues: Type.Array(QueueDepth, { description: 'The work that is waiting for the workers.' }),
    parked: Type.Integer({
      description: 'The number of accepted items that could not be applied, in all projects. Counting stops at 100,000.',
    }),
    processes: Type.Array(Exact({ connected_at: When('When the process connected to the database.') }, { title: 'SystemProcess' }), {
      description: 'The processes of Carillon on this database.',
    }),
    disk: Nullable(
      Exact(
        { free_bytes: Bytes('Free disk space.'), size_bytes: Bytes('Total disk space.') },
        { title: 'SystemDisk', description: 'The disk of `DATA_DIR` of the process that replied; null if it cannot be read.' },
      ),
    ),
    retention: Type.Array(
      Exact(
        {
          setting: Type.String({ description: 'The setting, with its unit in its name.' }),
          value: Type.Integer({ description: 'The age at which data is deleted; 0 keeps data forever.' }),
        },
        { title: 'SystemRetention' },
      ),
      { description: 'How long data is kept.' },
    ),
    read_at: When('When it was read.'),
  },
  { title: 'System' },
)
export type System = Static<typeof System>
