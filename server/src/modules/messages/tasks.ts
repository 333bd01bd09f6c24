/** What worker threads do with messages. */
import { task } from '../../infra/threads/task.ts'
import { type PackedMessage, packMessage } from './sending/packed-message.ts'
import { type RenderFailure, type RenderInput, type RenderSettings, render } from './sending/render.ts'
import { readContent } from './submission/content.ts'

/** Renders messages, and tells how long each took. */
export const renderMessage = task({
  name: 'messages.renderMessage',
  run(tools, settings: RenderSettings, input: RenderInput): { result: PackedMessage | RenderFailure; elapsedMs: number } {
    const started = performance.now()
    const result = render(tools, settings, input)
    const about = { id: input.id, projectId: settings.project.id, now: settings.now, composing: input.composing }
    return { result: 'rendered' in result ? packMessage(tools, result, about) : result, elapsedMs: performance.now() - started }
  },
})

/** Reads an email that an application submitted. */
export const readSubmitted = task({
  name: 'messages.readSubmitted',
  run: (_tools, _shared: null, content: Uint8Array) => readContent(content),
})
