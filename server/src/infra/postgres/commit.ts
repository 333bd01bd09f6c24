import type pg from 'pg'

/** Ends a transaction. Of one in which a statement failed PostgreSQL commits nothing, and does not call that an error. */
export async function commit(client: pg.ClientBase): Promise<void> {
  const { command } = await client.query('commit')
  if (command !== 'COMMIT')
    throw new Error('A statement of the transaction failed, and its work went on. Use a savepoint for what may fail.')
}
