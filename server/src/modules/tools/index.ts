/**
 * The utilities under `/api/ext/generic`: made-up data, and small checks of text, phone numbers, SPF records and TCP ports.
 * Owns no tables and keeps nothing. Promises: the same seed and parameters give the same records, a larger `count` only
 * adds to them, and trouble on the network is a result with status 200, within ten seconds.
 */
export { toolRoutes } from './routes.ts'
