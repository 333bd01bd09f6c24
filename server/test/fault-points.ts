/**
 * Points at which the database holds a process, so that a test kills it there and nowhere else. A trigger waits for a lock that the
 * test has; the product knows nothing of it. Between the record of an attempt and the send there is no statement that could wait: hold
 * the greeting of the relay (`relay.hold('CONNECT')`).
 */
import pg from 'pg'
import { vi } from 'vitest'

/** The statement that waits, and what is committed by then. */
type FaultPoint = { waits: string; committed?: (passes: number) => string }

const POINTS = {
  /** Messages are claimed, and not written down as about to leave. */
  'between claim and attempt record': { waits: 'before insert on send_attempts for each row' },
  /** The provider has answered, and what it answered is not written down. */
  'between send and settle': { waits: 'before delete on send_attempts for each row' },
  /** Of a batch of the log, the first partition is committed, and the others are not but for those that pass. */
  'between partitions': {
    waits: 'before insert on queue_partitions for each row when (new.partition > 0)',
    committed: (passes) => `select from queue_partitions having count(*) > ${passes}`,
  },
  /** Of an import, the first batch is committed, and the second is saved and not committed. */
  'between batches of an import': { waits: 'before update of position on imports for each row when (old.rows > 0)' },
} satisfies Record<string, FaultPoint>

export type FaultPointName = keyof typeof POINTS

export type HeldPoint = AsyncDisposable & {
  /** Resolves when a process waits at the point. */
  reached(): Promise<void>
  /** Lets go whatever waits there, and holds nothing any more. What a killed process had begun is rolled back. */
  release(): Promise<void>
}

export type HoldOptions = {
  /** So many times it is passed before it holds. */
  passes?: number
}

const REACHED_WAIT_MS = 60_000
const LOCK_CLASS = 77

/** Holds every process of this database that comes to the point, until it is released or disposed of. */
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
          throw new Error(`No process came to the point ${name}.`)
      }
      await vi.waitFor(isThere, { timeout: REACHED_WAIT_MS, interval: 10 })
    },
    [Symbol.asyncDispose]: release,
  }
}
