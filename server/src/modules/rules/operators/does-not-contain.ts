import { contains } from './contains.ts'
import { opposite, quoted, type Scalar } from './operator.ts'

export const doesNotContain = opposite(contains, {
  label: 'does not contain',
  describe: (args) => `does not contain ${quoted(args as Scalar)}`,
  examples: [
    [['red', 'blue'], 'red', false],
    ['hello world', 'o w', false],
    ['hello', 'Hell', true],
    [['red', 'blue'], 're', true],
    [3, 3, true],
    [null, 'red', true],
    [undefined, 'red', true],
  ],
})
