/** The client of the API for TypeScript. */
export type { components, paths } from './api.ts'
export { type Client, type ClientOptions, createClient, etagOf, type Options, type PathOf, type Reply } from './client.ts'
export { CarillonError } from './error.ts'
export { jsonOf, readReply } from './reply.ts'
