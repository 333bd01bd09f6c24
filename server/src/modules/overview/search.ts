import { type Listing, type PageRequest, readPageRequest } from '../../infra/http/paging.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { campaignListing, listCampaigns } from '../campaigns/index.ts'
import { domainListing, listDomains } from '../domains/index.ts'
import { journeyListing, listJourneys } from '../journeys/index.ts'
import { listListing, listLists } from '../lists/index.ts'
import { listUsers, userListing } from '../users/index.ts'
import { endpointListing, listEndpoints } from '../webhooks/index.ts'
import type { Found } from './schema.ts'

const EACH_MAX = '5'

/** Finds users and objects by part of a name. */
export async function searchByName(ctx: ProjectCtx, q: string): Promise<{ results: Found[] }> {
  const pages = await Promise.all([
    found(ctx, q, userListing, listUsers, ({ external_id, email, phone }) => ({
      type: 'user',
      id: external_id,
      name: external_id,
      detail: email ?? phone,
    })),
    found(ctx, q, campaignListing, listCampaigns, ({ id, name, state }) => ({ type: 'campaign', id: String(id), name, detail: state })),
    found(ctx, q, journeyListing, listJourneys, ({ id, name, status }) => ({ type: 'journey', id: String(id), name, detail: status })),
    found(ctx, q, listListing, listLists, ({ id, name, type }) => ({ type: 'list', id: String(id), name, detail: type })),
    found(ctx, q, endpointListing, listEndpoints, ({ id, name, status }) => ({ type: 'webhook', id: String(id), name, detail: status })),
    found(ctx, q, domainListing, listDomains, ({ id, host, sending }) => ({
      type: 'domain',
      id: String(id),
      name: sending?.domain ?? host,
      detail: null,
    })),
  ])
  return { results: pages.flat() }
}

/** The first items of a listing, as `GET` of its path finds them. */
async function found<T>(
  ctx: ProjectCtx,
  q: string,
  listing: Listing,
  list: (ctx: ProjectCtx, page: PageRequest) => Promise<{ results: T[] }>,
  present: (item: T) => Found,
): Promise<Found[]> {
  const { request } = readPageRequest(listing, { limit: EACH_MAX, q })
  return (await list(ctx, request)).results.map(present)
}
