import { latestInSandbox } from '../../../messages/index.ts'
import { ofProject, type TopicKind } from './topic.ts'

export const sandbox: TopicKind = {
  about: 'The id of the newest message in the sandbox, in `latest_id`; null if the sandbox is empty.',
  of: 'project',
  look: async (ctx) => ofProject({ latest_id: await latestInSandbox(ctx) }),
}
