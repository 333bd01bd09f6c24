/**
 * The utilities under `/api/ext/generic`: generated test data, and checks of text, phone numbers, SPF records and TCP ports. Owns no
 * tables. Promises: the same seed and parameters give the same records, and a larger `count` only adds to them; network errors are
 * results with status 200, within ten seconds.
 */
export { toolRoutes } from './routes.ts'
export { isSpf, type Term as SpfTerm, termsOf as spfTerms } from './spf.ts'
export { lookUpSpf } from './spf-lookup.ts'
