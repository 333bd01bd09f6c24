/** The module that a worker thread runs: every task, and what it loads in advance. */

import { createSecrets } from './infra/runtime/secrets.ts'
import { serveTasks } from './infra/threads/serve-tasks.ts'
import * as campaigns from './modules/campaigns/tasks.ts'
import * as imports from './modules/imports/tasks.ts'
import * as journeys from './modules/journeys/tasks.ts'
import * as messages from './modules/messages/tasks.ts'
import * as mta from './modules/mta/tasks.ts'
import * as templates from './modules/templates/tasks.ts'
import * as tools from './modules/tools/tasks.ts'
import * as tracking from './modules/tracking/tasks.ts'

const tasks = [
  campaigns.measureText,
  campaigns.preflightUser,
  imports.readHeading,
  imports.readNextRows,
  journeys.renderTexts,
  messages.checkSandboxContent,
  messages.hashBody,
  messages.readSubmitted,
  messages.renderMessage,
  mta.readMailReport,
  templates.checkTemplate,
  templates.compileStored,
  templates.lintTemplate,
  templates.tryTemplate,
  tools.scoreText,
  tracking.numberLinks,
]

// It is larger than the rest of a thread.
serveTasks({ tasks, toolsOf: (keys) => ({ secrets: createSecrets(keys) }), warmUp: () => import('mjml') })
