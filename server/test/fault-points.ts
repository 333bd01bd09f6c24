/**
 * Points at which the database holds a process, so that a test can kill it exactly there. A trigger waits for a lock that the test has;
 * the server code has no hooks for it. Between the attempt record and the send, no statement could wait: use `relay.hold('CONNECT')`,
 * which holds the greeting of the relay.
 */
import pg from 'pg'
import { vi } from 'vitest'

/** The statement that waits, and a query for what must be committed by then. */
type FaultPoint = { waits: string; committed?: (passes: number) => string }

const POINTS = {
  /** Messages are claimed, and their attempt is not recorded. */
  'between claim and attempt record': { waits: 'before insert on send_attempts for each row' },
  /** The provider has responded, and the results are not saved. */
  'between send and result': { waits: 'before delete on send_attempts for each row' },
  /** The first partition of a batch and `passes` others are committed. */
  'between partitions': {
    waits: 'before insert on queue_partitions for each row when (new.partition > 0)',
    committed: (passes) => `select from queue_partitions having count(*) > ${passes}`,
  },
  /** Accepted requests are in the queue, and how far their log was moved is not. */
  'between moved requests and position': { waits: 'before update of position on log_positions for each row' },
  /** The first batch of an import is committed. The second is saved but not committed. */
  'between batches of an import': { waits: 'before update of position on imports for each row when (old.rows > 0)' },
  /** Users of journeys have moved on, and their messages are not inserted. */
  'between decision and message': { waits: 'before insert on messages for each row when (new.entrance_id is not null)' },
  /** The first partition of due timers is applied and not committed. */
  'while timers are applied': { waits: 'before delete on journey_timers for each row' },
} satisfies Record<string, FaultPoint>

export type FaultPointName = keyof typeof POINTS

export type HeldPoint = AsyncDisposable & {
  /** Resolves when a process waits at the point. */
  reached(): Promise<void>
  /** Releases the processes that wait, and holds no more. The transaction of a killed process is rolled back. */
  release(): Promise<void>
}

export type HoldOptions = {
  /** How many times a process may pass before it is held. */
  passes?: number
}

const REACHED_WAIT_MS = 60_000
const LOCK_CLASS = 77

/** Holds every process of this database that reaches the point, until it is released or disposed of. */
export async function holdAt(databaseUrl: string, name: FaultPointName, { passes = 0 }: HoldOptions = {}): Promise<HeldPoint> {
  const { waits, committed }: FaultPoint = POINTS[name]
  const lock = Object.keys(POINTS).indexOf(name)
  const trigger = `fault_point_${lock}`
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const found = async (statement: string) => (await client.query(statement)).rowCount !== 0
  await client.query(`select pg_advisory_lock(${LOCK_CLASS}, ${lock})`)
  await client.query(`
    create sequence ${trigger};
    create function ${trigger}() returns trigger language plpgsql as $$
    begin
      if nextval('${trigger}') > ${passes} then
        perform pg_advisory_xact_lock_shared(${LOCK_CLASS}, ${lock});
      end if;
      if tg_op = 'DELETE' then return old; end if;
      return new;
    end $$;
    create trigger ${trigger} ${waits} execute function ${trigger}()`)
  let isHeld = true
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    await client.query(`select pg_advisory_unlock(${LOCK_CLASS}, ${lock})`)
    await client.query(`drop function ${trigger} cascade; drop sequence ${trigger}`)
    await client.end()
  }
  return {
    release,
    async reached() {
      const waiting = `select from pg_locks where locktype = 'advisory' and classid = ${LOCK_CLASS} and objid = ${lock} and not granted
                       and database = (select oid from pg_database where datname = current_database())`
      const isThere = async () => {
        if (!(await found(waiting)) || (committed && !(await found(committed(passes)))))
          throw new Error(`No process reached the point ${name}.`)
      }
      await vi.waitFor(isThere, { timeout: REACHED_WAIT_MS, interval: 10 })
    },
    [Symbol.asyncDispose]: release,
  }
}
