/** The order of test files: those that take long begin first, so that none of them runs alone at the end while the other processors wait. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of more than five seconds, the longest first. A file that is missing here only ends later. */
const LONG = [
  'console/test/looks',
  'console/test/console',
  'server/test/house/lookups',
  'server/test/disasters/journeys',
  'server/src/modules/imports/imports',
  'server/test/flows/guides',
  'console/test/members',
  'server/test/flows/calm',
  'console/test/paths',
  'server/test/disasters/blast-killed',
  'server/test/flows/stops',
  'server/test/disasters/mail-several',
  'server/test/flows/clients',
  'server/test/sdk/types',
  'server/src/modules/webhooks/webhooks',
  'server/src/modules/campaigns/direct/parts',
  'server/src/modules/lists/building/build',
  'server/test/house/linear',
  'server/test/disasters/mail-killed',
  'server/src/modules/subscriptions/address-users',
  'server/src/modules/messages/submission/delivery',
  'server/test/disasters/partitions',
  'server/test/flows/mail-shares',
  'server/src/modules/webhooks/dispatch',
  'server/src/modules/journeys/sweeps/sweeps',
  'server/test/disasters/kill',
  'server/test/flows/inbound',
  'server/test/flows/start-problems',
  'server/test/house/tenants',
  'server/test/house/linear-http',
  'server/test/flows/mail-queue',
  'server/src/lib/liquid/compile',
  'server/src/modules/campaigns/progress/pausing',
  'server/test/disasters/webhooks-killed',
  'server/src/infra/threads/pool',
  'server/test/disasters/several-processes',
  'server/test/flows/mail-events',
  'server/src/infra/outgoing/mail',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
  return at < 0 ? LONG.length : at
}

/** A process that files share goes on only while the next file may share it, so those that are alone come first. */
const groupOf = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b))
  }
}
