/** Slugs of campaigns: names that requests use, the same in each project (D-CAMP-7). */
import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import { slugsLike } from './queries.ts'

const BASE_LENGTH_MAX = 54
const NO_LETTERS = 'campaign'

/** The slug of a name: its ASCII letters and digits in lower case, with hyphens between the words. */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const slug = words.reduce((made, word) => (made === '' ? word.slice(0, BASE_LENGTH_MAX) : fitted(made, word)), '')
  return slug === '' ? NO_LETTERS : slug
}

const fitted = (made: string, word: string) => (made.length + 1 + word.length > BASE_LENGTH_MAX ? made : `${made}-${word}`)

/** The first of `base`, `base-2`, `base-3` and so on that is not taken. */
function firstFree(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`
}

/** A slug for a new campaign with this name, which no other has. */
export async function freeSlug(ctx: ProjectCtx, name: string): Promise<string> {
  const base = slugOf(name)
  return firstFree(base, new Set((await slugsLike(ctx, base)).map(({ slug }) => slug)))
}

/** The slug of a campaign that is restored: its own, unless another campaign took it. */
export async function restoredSlug(ctx: ProjectCtx, slug: string): Promise<string> {
  const takenLike = async (base: string) => new Set((await slugsLike(ctx, base)).map(({ slug }) => slug))
  if (!(await takenLike(slug)).has(slug)) return slug
  const base = slug.slice(0, BASE_LENGTH_MAX).replace(/-$/, '')
  return firstFree(base, (await takenLike(base)).add(base))
}

/**
 * Saves a campaign. Throws 409 if its slug was given and is taken, and repeats the transaction if a slug that was generated for it has been
 * taken in the meantime.
 */
export async function savingSlug<T>(save: () => Promise<T>, given: boolean): Promise<T> {
  try {
    return await save()
  } catch (error) {
    if (!isSqlState(error, UNIQUE_VIOLATION)) throw error
    if (!given) throw new Conflict('Another campaign took the slug.')
    throw new ApiError('resource_already_exists', 'Another campaign of the project has this `slug`.', { param: 'slug' })
  }
}
