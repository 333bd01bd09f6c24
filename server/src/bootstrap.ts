/** The first start: creates an organisation, a project “Default” in sandbox mode and three keys (D-KEY-6). Also what it leaves in `DATA_DIR`. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Ctx, type InTx, inTx } from './infra/runtime/ctx.ts'
import type { OrganisationId, ProjectId } from './lib/ids.ts'
import { StartError } from './lib/start-error.ts'
import { LATEST_VERSION } from './lib/versions.ts'
import { recordAction } from './modules/audit/index.ts'
import { generateKey, saveKey } from './modules/keys/index.ts'
import { ownerLink } from './modules/members/index.ts'
import { findFirstProject, insertOrganisation, lockBootstrap } from './modules/projects/index.ts'
import { createProjectIn } from './verbs.ts'

export type Credentials = { organisation_key: string; secret_key: string; publishable_key: string }

const KEYS = [
  { setting: 'BOOTSTRAP_ORG_KEY', field: 'organisation_key', prefix: 'ok_', scope: 'organisation', role: 'owner' },
  { setting: 'BOOTSTRAP_SECRET_KEY', field: 'secret_key', prefix: 'sk_', scope: 'secret', role: 'admin' },
  { setting: 'BOOTSTRAP_PUBLIC_KEY', field: 'publishable_key', prefix: 'pk_', scope: 'public', role: 'admin' },
] as const

/**
 * Creates the organisation, project and keys on the first start, and then returns the credentials. Adds the keys of the configuration at
 * every start. `keep` stores the credentials before the transaction commits: after a crash in between, the next start replaces them,
 * whereas committed keys that were not stored would be lost.
 */
export async function bootstrap(ctx: Ctx, keep: (credentials: Credentials) => Promise<void>): Promise<Credentials | null> {
  return inTx(ctx, async (ctx) => {
    await lockBootstrap(ctx)
    const first = await findFirstProject(ctx)
    if (first) {
      await addConfiguredKeys(bySystem(ctx, first.organization_id), first.organization_id, first.is_deleted ? null : first.id)
      return null
    }
    const organisationId = await insertOrganisation(ctx, 'Default', LATEST_VERSION)
    const project = await createProjectIn(ctx, organisationId, { name: 'Default', locale: 'en', timezone: 'UTC' })
    const { name, locale, timezone } = project
    await recordAction(bySystem(ctx, organisationId), project.id, 'project.created', project.id, { after: { name, locale, timezone } })
    const credentials = await addKeys(bySystem(ctx, organisationId), organisationId, project.id)
    await keep(credentials)
    return credentials
  })
}

/** What the audit log says of the first start. */
const bySystem = (ctx: InTx<Ctx>, organisationId: OrganisationId): InTx<Ctx> => ({
  ...ctx,
  origin: { via: 'system', requestId: null, organisationId },
})

async function addKeys(ctx: InTx<Ctx>, organisationId: OrganisationId, projectId: ProjectId): Promise<Credentials> {
  const credentials: Partial<Credentials> = {}
  for (const key of KEYS) {
    const value = ctx.config[key.setting] ?? generateKey(key.prefix, ctx.secrets.random)
    await addKey(ctx, key, value, organisationId, projectId)
    credentials[key.field] = value
  }
  return credentials as Credentials
}

/** Without a project, those of the organisation only. */
async function addConfiguredKeys(ctx: InTx<Ctx>, organisationId: OrganisationId, projectId: ProjectId | null): Promise<void> {
  for (const key of KEYS.filter(({ scope }) => projectId !== null || scope === 'organisation')) {
    const value = ctx.config[key.setting]
    if (value) await addKey(ctx, key, value, organisationId, projectId)
  }
}

async function addKey(
  ctx: InTx<Ctx>,
  { scope, role }: (typeof KEYS)[number],
  value: string,
  organisationId: OrganisationId,
  ofProject: ProjectId | null,
): Promise<void> {
  const projectId = scope === 'organisation' ? null : ofProject
  const name = 'First key'
  const saved = await saveKey(ctx as unknown as Ctx, value, {
    organisationId,
    projectId,
    scope,
    role,
    name,
    description: null,
    isSystemKey: false,
  })
  if (saved) await recordAction(ctx, projectId, 'key.created', saved.id, { after: { name, scope, role } })
}

/**
 * The first credentials in `DATA_DIR`, where only the owner can read them. A second file beside them says that they have not been shown: a
 * start can fail after it created them, for example because the port is taken.
 */
export function storedCredentials(dataDir: string) {
  const path = join(dataDir, 'credentials.json')
  const mark = join(dataDir, 'credentials.unshown')
  return {
    path,
    async write(credentials: Credentials): Promise<void> {
      await writeFile(mark, '')
      await writeFile(path, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
    },
    /** The credentials of an earlier start that did not show them. */
    unshown: async (): Promise<Credentials | null> =>
      existsSync(mark) && existsSync(path) ? JSON.parse(await readFile(path, 'utf8')) : null,
    markShown: (): Promise<void> => rm(mark, { force: true }),
  }
}

/**
 * The URL of the page that creates the owner of the console, with a new link; null once there is an owner (D-CON-2). Each start creates its
 * own link. Links of earlier starts stay valid for their 24 hours.
 */
export async function ownerUrl(ctx: Ctx): Promise<string | null> {
  const project = await findFirstProject(ctx)
  const path = project && (await ownerLink(ctx, project.organization_id))
  return path ? `${ctx.baseUrl()}${path}` : null
}

/** The link in `DATA_DIR`, where only the owner of the process can read it. */
export function storedOwnerUrl(dataDir: string) {
  const path = join(dataDir, 'console-link.txt')
  return {
    path,
    write: (url: string): Promise<void> => writeFile(path, `${url}\n`, { mode: 0o600 }),
    remove: (): Promise<void> => rm(path, { force: true }),
  }
}

/** Creates `DATA_DIR` if it does not exist. Throws if files cannot be created in it. */
export async function requireWritable(dataDir: string): Promise<void> {
  try {
    await createFolder(resolve(dataDir))
    const probe = await mkdtemp(join(dataDir, 'probe-'))
    await rm(probe, { recursive: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new StartError(
      `DATA_DIR ${resolve(dataDir)} cannot be written (${code}). Give this user write access, or set DATA_DIR to another directory.`,
    )
  }
}

/**
 * Creates a folder and those above it. The option `recursive` of `mkdir` never returns where the system creates no folders, such as in /proc
 * or a mount whose server is gone.
 */
async function createFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    await createFolder(dirname(path))
    await createFolder(path)
  }
}
