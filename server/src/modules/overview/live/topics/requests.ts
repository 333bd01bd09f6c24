import { latestRequest } from '../../../api-log/index.ts'
import { ofProject, type TopicKind } from './topic.ts'

export const requests: TopicKind = {
  about: 'The id of the newest request in the API log, in `latest_id`; null if the log is empty.',
  of: 'project',
  look: async (ctx) => ofProject({ latest_id: await latestRequest(ctx) }),
}
