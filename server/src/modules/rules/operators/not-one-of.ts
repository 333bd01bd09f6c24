import { oneOf } from './one-of.ts'
import { opposite, quoted, type Scalar } from './operator.ts'

export const notOneOf = opposite(oneOf, {
  label: 'is not one of',
  describe: (args) => `is not one of ${(args as Scalar[]).map(quoted).join(', ')}`,
  examples: [
    ['pro', ['pro', 'team'], false],
    ['free', ['pro', 'team'], true],
    [3, ['3'], true],
    [['pro'], ['pro'], true],
    [null, ['pro'], true],
    [undefined, ['pro'], true],
  ],
})
