/**
 * The mail engine: return paths of the emails that it delivers, by which what destinations report later is matched to its recipient.
 * Promises: a return path shows which recipient of which email it is of, and only this server can make one.
 */
export { type ReturnPath, readReturnPath, returnPathFor } from './return-path.ts'
