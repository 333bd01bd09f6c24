import type pg from 'pg'

/** Commits a transaction. After a statement that failed, PostgreSQL rolls back instead and reports no error, so this throws. */
export async function commit(client: pg.ClientBase): Promise<void> {
  const { command } = await client.query('commit')
  if (command !== 'COMMIT')
    throw new Error('A statement of this transaction failed, but the work continued. Put statements that may fail in a savepoint.')
}
