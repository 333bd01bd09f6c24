/** The kinds of condition, under the names stored in rules. A published name never changes. */
export { attribute } from './attribute.ts'
export { bucket } from './bucket.ts'
export { campaign } from './campaign.ts'
export { device } from './device.ts'
export { event } from './event.ts'
export { journey } from './journey.ts'
export { list } from './list.ts'
export { subscription } from './subscription.ts'
