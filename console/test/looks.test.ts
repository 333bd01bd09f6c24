/** How every screen looks: with the sample data of the pictures. */
import { ownSite } from './own-site.ts'
import { fillProject } from './sample-project.ts'
import { looks } from './stories/looks.ts'

const { site } = ownSite({ fill: fillProject })

looks(site)
