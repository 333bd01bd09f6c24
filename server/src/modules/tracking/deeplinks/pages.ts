import { type PublicReply, type PublicRequest, publicPage } from '../../../infra/http/public-page.ts'
import { cached } from '../../../infra/runtime/cache.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { findProject } from '../../projects/index.ts'
import { findVerifiedHost } from '../domains/queries.ts'
import { notFound } from '../not-found.ts'
import { createMirror } from './mirror.ts'

const REMEMBERED_MS = 5000
const REMEMBERED_MAX = 1000

const mirror = createMirror()
const projectOfHost = cached(REMEMBERED_MAX, REMEMBERED_MS, async (ctx, host: string) => (await findVerifiedHost(ctx, host))?.project_id)
const mirrored = cached(REMEMBERED_MAX, REMEMBERED_MS, async (ctx, id: ProjectId) => (await findProject(ctx, id)).deeplink_mirror_url)

/** The files that tell phones to open links of a project's own domain in its app. */
export const deeplinkPages = [
  publicPage({
    method: 'GET',
    path: '/.well-known/apple-app-site-association',
    summary: 'Which apps of Apple’s devices open links of this host.',
    open: 'A file that is public at the origin it is copied from.',
    run: (ctx, call) => association(ctx, call, 'apple-app-site-association'),
  }),
  publicPage({
    method: 'GET',
    path: '/.well-known/assetlinks.json',
    summary: 'Which Android apps open links of this host.',
    open: 'A file that is public at the origin it is copied from.',
    run: (ctx, call) => association(ctx, call, 'assetlinks.json'),
  }),
]

async function association(ctx: Ctx, { headers }: PublicRequest, file: string): Promise<PublicReply> {
  const host = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '')
  const projectId = await projectOfHost.get(ctx, host)
  const source = projectId === undefined ? '' : await mirrored.get(ctx, projectId)
  // A host that mirrors itself would wait for its own answer.
  if (source === '' || new URL(source).hostname === host) return notFound()
  const body = await mirror.read(ctx, `${new URL(source).origin}/.well-known/${file}`)
  if (body === null) return notFound()
  return { status: 200, type: 'application/json', body, headers: { 'cache-control': 'public, max-age=300' } }
}
