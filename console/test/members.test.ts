/** Who uses the console, and what they may do: the first start, signing in, the frame of the pages, keys, the audit log and the team. */
import { ownSite } from './own-site.ts'
import { audit } from './stories/audit.ts'
import { firstSteps } from './stories/first-steps.ts'
import { frame } from './stories/frame.ts'
import { keys } from './stories/keys.ts'
import { sessionEnd } from './stories/session-end.ts'
import { deletion, settings } from './stories/settings.ts'
import { signingIn } from './stories/signing-in.ts'
import { team } from './stories/team.ts'
import { tools } from './stories/tools.ts'

const { site, mailedTo } = ownSite()

// In this order: the first story creates the owner and the users of the others.
firstSteps(site)
signingIn(site)
frame(site)
sessionEnd(site)
keys(site)
audit(site)
settings(site)
deletion(site)
tools(site)
team(site, mailedTo)
