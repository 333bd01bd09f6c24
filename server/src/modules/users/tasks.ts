/** What the tasks of other modules need of users. */
export { checkItem, checkItemWithoutId } from './batch.ts'
