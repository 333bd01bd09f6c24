/** Every kind of news. A group is exported whole, so that a new kind needs no line here. */
export * from './delivery.ts'
export * from './incoming-report.ts'
export * from './queue.ts'
