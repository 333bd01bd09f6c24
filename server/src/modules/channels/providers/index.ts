/** The providers, under the names stored with messages. A name, once shipped, is never changed. */
export { sandbox } from './sandbox.ts'
