/** What tasks of other modules need of subscriptions. */
export { linksOf } from './links.ts'
