import type { ImportId } from '../../../../lib/ids.ts'
import { importsOf } from '../../../imports/index.ts'
import type { TopicKind } from './topic.ts'

export const importOf: TopicKind = {
  about: 'An import in `import`, as getListImport returns it, but without its first rows.',
  of: 'object',
  look: async (ctx, ids) => new Map((await importsOf(ctx, ids as ImportId[])).map((row) => [row.id, { import: row }])),
}
