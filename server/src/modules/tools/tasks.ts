/** What worker threads do for the utilities. */
import { task } from '../../infra/threads/task.ts'
import { scoreSentiment } from './sentiment.ts'

/** Scores the sentiment of a long text. */
export const scoreText = task({
  name: 'tools.scoreText',
  run: (_tools, _shared: null, text: string) => scoreSentiment(text),
})
