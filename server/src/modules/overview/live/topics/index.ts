export { campaign } from './campaign.ts'
export { importOf as import } from './import.ts'
export { messages } from './messages.ts'
export { sandbox } from './sandbox.ts'
