/** The module that a worker thread runs: every task, and what it loads in advance. */
import { serveTasks } from './infra/threads/serve-tasks.ts'
import * as templates from './modules/templates/tasks.ts'

const tasks = [templates.checkTemplate, templates.compileStored, templates.lintTemplate, templates.tryTemplate]

// It is larger than the rest of a thread.
serveTasks(tasks, () => import('mjml'))
