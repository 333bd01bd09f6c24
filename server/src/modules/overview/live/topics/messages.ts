import { latestMessage } from '../../../messages/index.ts'
import { ofProject, type TopicKind } from './topic.ts'

export const messages: TopicKind = {
  about: 'The id of the newest message, in `latest_id`; null if there are no messages.',
  of: 'project',
  look: async (ctx) => ofProject({ latest_id: await latestMessage(ctx) }),
}
