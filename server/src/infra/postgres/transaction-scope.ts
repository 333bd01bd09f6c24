import pg from 'pg'

/** `isOver` once the work of a transaction or savepoint has returned: what it left behind must not run outside of it. `failure` is its last error. */
export type Scope = { isOver: boolean; within?: Scope; failure?: unknown }

export const isOver = (scope: Scope | undefined): boolean => scope !== undefined && (scope.isOver || isOver(scope.within))

const FAILED_BEFORE = '25P02'
/** Was a statement not run because one before it in the transaction had failed? */
export const failedBefore = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === FAILED_BEFORE

/** Notes the error of a statement. */
export function noteFailure(scope: Scope | undefined, error: unknown): void {
  if (failedBefore(error)) return
  for (let each = scope; each; each = each.within) each.failure = error
}

/**
 * Why the work of a transaction or savepoint failed. Of statements that were sent together, those after the one that failed fail too, and the work
 * may hear of these first.
 */
export const causeOf = ({ failure }: Scope, error: unknown): unknown => (failedBefore(error) ? (failure ?? error) : error)
