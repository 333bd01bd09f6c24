/** The products that users can be imported from, by the name on the command line. */
export { braze } from './braze.ts'
export { customerIo as customerio } from './customer-io.ts'
export { listmonk } from './listmonk.ts'
export { mailchimp } from './mailchimp.ts'
