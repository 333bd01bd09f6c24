import { type PublicReply, type PublicRequest, publicPage } from '../../../infra/http/public-page.ts'
import { cached } from '../../../infra/runtime/cache.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { findVerifiedHost, hostOf } from '../../domains/index.ts'
import { findProject } from '../../projects/index.ts'
import { notFound } from '../not-found.ts'
import { createMirror } from './mirror.ts'

const CACHE_MS = 5000
const CACHE_MAX = 10_000

const mirror = createMirror()
const projectOfHost = cached(CACHE_MAX, CACHE_MS, async (ctx, host: string) => (await findVerifiedHost(ctx, host))?.project_id)
const mirrored = cached(CACHE_MAX, CACHE_MS, async (ctx, id: ProjectId) => (await findProject(ctx, id)).deeplink_mirror_url)

/** The association files, by which phones open links of a project’s domain in its app. */
export const deeplinkPages = [
  publicPage({
    method: 'GET',
    path: '/.well-known/apple-app-site-association',
    summary: 'Return the Apple apps that open links on this host.',
    open: 'The file is a copy of one that is already public.',
    run: (ctx, call) => association(ctx, call, 'apple-app-site-association'),
  }),
  publicPage({
    method: 'GET',
    path: '/.well-known/assetlinks.json',
    summary: 'Return the Android apps that open links on this host.',
    open: 'The file is a copy of one that is already public.',
    run: (ctx, call) => association(ctx, call, 'assetlinks.json'),
  }),
]

async function association(ctx: Ctx, { headers }: PublicRequest, file: string): Promise<PublicReply> {
  const host = hostOf(headers)
  const projectId = await projectOfHost.get(ctx, host)
  const source = projectId === undefined ? '' : await mirrored.get(ctx, projectId)
  // A host that mirrors itself would wait for its own response.
  if (source === '' || new URL(source).hostname === host) return notFound()
  const body = await mirror.read(ctx, `${new URL(source).origin}/.well-known/${file}`)
  if (body === null) return notFound()
  return { status: 200, type: 'application/json', body, headers: { 'cache-control': 'public, max-age=300' } }
}
