/** What worker threads do with messages. */
import { task } from '../../infra/threads/task.ts'
import type { Channel } from '../../lib/channels.ts'
import { bodyHashOf, divideMail } from '../../lib/dkim/canonical.ts'
import { findingsInRendered } from '../templates/tasks.ts'
import { linksIn } from './sandbox/sandbox-links.ts'
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

/** Hashes the body of an email for its signatures. */
export const hashBody = task({
  name: 'messages.hashBody',
  run: (_tools, _shared: null, { buffer, byteOffset, length }: Uint8Array) =>
    bodyHashOf(divideMail(Buffer.from(buffer, byteOffset, length)).body),
})

/** Reads the problems and the links of a message that the sandbox captured. */
export const checkSandboxContent = task({
  name: 'messages.checkSandboxContent',
  run: (_tools, _shared: null, { channel, content, base }: { channel: Channel; content: Record<string, unknown>; base: string }) => ({
    findings: findingsInRendered(channel, content, base),
    links: typeof content.html === 'string' ? linksIn(content.html) : [],
  }),
})
