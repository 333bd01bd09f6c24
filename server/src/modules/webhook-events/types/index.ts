/** Every kind of webhook event. Whole groups are exported, so a new kind needs no line here. */
export * from './delivery.ts'
export * from './incoming-report.ts'
export * from './queue.ts'
