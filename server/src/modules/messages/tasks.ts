/** What worker threads do with messages. */
import { task } from '../../infra/threads/task.ts'
import { type RenderInput, type RenderResult, type RenderSettings, render } from './sending/render.ts'
import { readContent } from './submission/content.ts'

/** Renders messages, and tells how long each took. */
export const renderMessage = task({
  name: 'messages.renderMessage',
  run(tools, settings: RenderSettings, input: RenderInput): { result: RenderResult; elapsedMs: number } {
    const started = performance.now()
    const result = render(tools, settings, input)
    return { result, elapsedMs: performance.now() - started }
  },
})

/** Reads an email that an application submitted. */
export const readSubmitted = task({
  name: 'messages.readSubmitted',
  run: (_tools, _shared: null, content: Uint8Array) => readContent(content),
})
