/** What the tasks of other modules need of users. */
export { checkItem } from './batch.ts'
