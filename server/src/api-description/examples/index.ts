/** The examples of the API description. They are about one project, so that the id of a reply is the id in the next request. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { campaignExamples, campaignOperations } from './campaigns.ts'
import { consoleExamples, consoleOperations } from './console.ts'
import { journeySimulationOperations } from './journey-simulations.ts'
import { journeyExamples, journeyOperations } from './journeys.ts'
import { listExamples, listOperations } from './lists.ts'
import { messageExamples, messageOperations } from './messages.ts'
import { projectExamples, projectOperations } from './projects.ts'
import { userExamples, userOperations } from './users.ts'
import { utilityExamples } from './utilities.ts'

/** By the name of a component. */
export const EXAMPLES: Words['examples'] = {
  ...consoleExamples,
  ...projectExamples,
  ...userExamples,
  ...listExamples,
  ...campaignExamples,
  ...journeyExamples,
  ...messageExamples,
  ...utilityExamples,
}

/** By operation id. */
export const OPERATION_EXAMPLES: Words['operations'] = {
  ...projectOperations,
  ...userOperations,
  ...listOperations,
  ...campaignOperations,
  ...consoleOperations,
  ...journeyOperations,
  ...journeySimulationOperations,
  ...messageOperations,
}

/** By the name of a path parameter. */
export const PATH_EXAMPLES: Words['parameters'] = {
  name: 'logo.png',
  projectId: 1,
  sessionId: 12,
  passkeyId: 3,
  memberId: 2,
  keyId: 9,
  userId: 'customer-1042',
  erasureId: 4,
  key: 'plan',
  subscriptionId: 6,
  suppressionId: 15,
  listId: 12,
  importId: 21,
  campaignId: 7,
  locale: 'en-AU',
  preflightId: 5,
  journeyId: 3,
  version: 3,
  backtestId: 2,
  messageId: 88301,
  providerId: 3,
  domainId: 2,
  endpointId: 5,
  deliveryId: 301,
  site: 'google',
}
