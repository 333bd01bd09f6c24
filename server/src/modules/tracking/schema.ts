import { type Static, Type } from 'typebox'
import type { CampaignId, LinkId, MessageId, UserId } from '../../lib/ids.ts'
import { Exact, IdOf } from '../../lib/shapes.ts'

/** An open or a click, by a user or a bot. */
export type Engagement = {
  kind: 'open' | 'click'
  user_id: UserId
  campaign_id: CampaignId
  message_id: MessageId
  /** The link of a click and its target. */
  link: LinkId | null
  url: string | null
  at: Date
  isBot: boolean
  /** A proxy of the email service fetched the image for a user. */
  isProxied: boolean
  /** The name of the detector that matched, or `burst`. */
  reason: string | null
}

/** A link of a campaign’s templates, with its clicks. */
const CountedLink = Exact({
  id: IdOf<LinkId>(),
  url: Type.String({
    description: 'The URL in the template, including Liquid. Of messages with content of their own: its scheme and host.',
  }),
  position: Type.Integer({ minimum: 0, description: 'The position of the link in its template, from 0.' }),
  clicks: Type.Integer({ minimum: 0, description: 'Number of clicks by users.' }),
  people: Type.Integer({ minimum: 0, description: 'Number of users who clicked.' }),
  machine_clicks: Type.Integer({ minimum: 0, description: 'Number of clicks by bots, such as security scanners.' }),
})

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Opens = {
  total: count('Number of opens by users, including those through a proxy.'),
  proxied: count('Number of opens through a proxy of the email service.'),
  machine: count('Number of requests by bots and Apple’s Mail Privacy Protection.'),
}

/** The clicks and opens of a campaign. */
export const CampaignLinks = Exact({ results: Type.Array(CountedLink), opens: Exact(Opens) })
export type CampaignLinks = Static<typeof CampaignLinks>

export const CountedLinkRow = Type.Object(CountedLink.properties)
export const OpensRow = Type.Object(Opens)
