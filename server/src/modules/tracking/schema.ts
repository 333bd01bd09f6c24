import { type Static, Type } from 'typebox'
import type { CampaignId, LinkId, MessageId, UserId } from '../../lib/ids.ts'
import { Exact, IdOf } from '../../lib/shapes.ts'

/** That a message was opened, or one of its links followed: by the person, or by a machine on the way. */
export type Engagement = {
  kind: 'open' | 'click'
  user_id: UserId
  campaign_id: CampaignId
  message_id: MessageId
  /** Of a click: the link, and where it led. */
  link: LinkId | null
  url: string | null
  at: Date
  isMachine: boolean
  /** A person's program let somebody else fetch the picture. */
  isProxied: boolean
  /** The name in `machines/` of what it was recognised as, if anything. */
  reason: string | null
}

/** One link of a campaign's templates, with what came of it. */
const CountedLink = Exact({
  id: IdOf<LinkId>(),
  url: Type.String({ description: 'As the template has it, Liquid and all.' }),
  position: Type.Integer({ minimum: 0, description: 'Which link of its template it is, from the top.' }),
  clicks: Type.Integer({ minimum: 0, description: 'How often people followed it.' }),
  people: Type.Integer({ minimum: 0, description: 'How many people followed it.' }),
  machine_clicks: Type.Integer({ minimum: 0, description: 'How often scanners and the like did.' }),
})

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Opens = {
  total: count('How often people opened a message, through proxies too.'),
  proxied: count('How many of those came through a proxy of the mail service.'),
  machine: count('How often something else fetched the picture, such as Apple’s privacy protection.'),
}

/** What came of a campaign’s links. */
export const CampaignLinks = Exact({ results: Type.Array(CountedLink), opens: Exact(Opens) })
export type CampaignLinks = Static<typeof CampaignLinks>

export const CountedLinkRow = Type.Object(CountedLink.properties)
export const OpensRow = Type.Object(Opens)
