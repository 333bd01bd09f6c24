import { is } from './is.ts'
import { opposite, quoted, type Scalar } from './operator.ts'

export const isNot = opposite(is, {
  label: 'is not',
  describe: (args) => `is not ${quoted(args as Scalar)}`,
  examples: [
    ['pro', 'pro', false],
    ['free', 'pro', true],
    [3, '3', true],
    [['pro'], 'pro', true],
    [null, 'pro', true],
    [undefined, 'pro', true],
  ],
})
