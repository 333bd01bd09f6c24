/**
 * Lists of people. Owns `lists`. Promises: an archived list, or one of another project, is no list to anybody.
 */
export { findListIds } from './queries.ts'
