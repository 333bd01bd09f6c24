import type pg from 'pg'
import type { Hosts } from './hosts.ts'
import { type PlanLimits, watchPlans } from './outgrown-plans.ts'

export type FreshConnections = {
  /** Takes a connection. Release it. */
  take(): Promise<pg.PoolClient>
  /** Runs a statement on one. */
  query(statement: pg.QueryConfig): Promise<pg.QueryResult>
  /** Closes the idle connections, and the others when they are next taken. */
  drop(): void
}

/** `mustDrop` names the errors that a connection does not outlive. `plans` says for how long its plans are kept; null: for as long as it exists. */
type Freshness = { mustDrop: (error: unknown) => boolean; plans: PlanLimits | null }

/**
 * The connections of a pool, which are dropped as soon as one of them meets an error that `mustDrop` names: when the database became a
 * standby, new ones may lead to the new primary. When a host cannot be used, the others are tried. Plans that the tables have outgrown are
 * made again.
 */
export function freshConnections(
  pool: pg.Pool,
  hosts: Pick<Hosts, 'count' | 'isOfHost'>,
  { mustDrop, plans }: Freshness,
): FreshConnections {
  let generation = 0
  const generations = new WeakMap<object, number>()
  const watched = plans && watchPlans(plans)
  pool.on('connect', (client) => {
    generations.set(client, generation)
    watched?.opened(client)
  })
  const isStale = (client: object) => generations.get(client) !== generation
  const connect = async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await pool.connect()
      } catch (error) {
        if (tries >= hosts.count || !hosts.isOfHost(error)) throw error
      }
    }
  }
  const prepare = async (client: pg.PoolClient) => {
    try {
      await watched?.prepare(client)
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }
  const connections: FreshConnections = {
    async take() {
      for (;;) {
        const client = await connect()
        if (isStale(client)) client.release(true)
        else {
          await prepare(client)
          return client
        }
      }
    },
    async query(statement) {
      const client = await connections.take()
      let failed: Error | undefined
      try {
        return await client.query(statement)
      } catch (error) {
        failed = error as Error
        if (mustDrop(error)) connections.drop()
        throw error
      } finally {
        client.release(failed)
      }
    },
    drop() {
      generation++
      for (let idle = pool.idleCount; idle > 0; idle--) {
        pool.connect().then(
          (client) => client.release(isStale(client)),
          () => undefined,
        )
      }
    },
  }
  return connections
}
