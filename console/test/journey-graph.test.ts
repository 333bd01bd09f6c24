/** The graph of a journey in the editor: what each command makes of it, and how it is told as an outline. */
import { describe, expect, test } from 'vitest'
import { copyOf, keptFor, keptOf, pasteOf } from '../src/screens/journeys/model/copied.ts'
import {
  apply,
  type Command,
  firstPath,
  type Graph,
  type Kinds,
  namedPaths,
  pathsOf,
  targetsFor,
  unreached,
} from '../src/screens/journeys/model/graph.ts'
import { begin, give, redo, undo } from '../src/screens/journeys/model/history.ts'
import { neighbours, outlineOf } from '../src/screens/journeys/model/outline.ts'

const KINDS: Kinds = {
  entrance: { paths: ['default'], waits: false },
  delay: { paths: ['default', 'past'], waits: true },
  gate: { paths: ['yes', 'no'], waits: false, named_paths: { member: 'branches', others: ['else'], none: ['yes', 'no'] } },
  wait_until: {
    paths: ['bought', 'timeout'],
    waits: false,
    named_paths: { member: 'conditions', others: ['timeout'], none: ['timeout'] },
  },
  experiment: { paths: ['a', 'b'], waits: false, named_paths: { member: 'branches', others: [], none: [] } },
  action: { paths: ['default', 'failed'], waits: false },
  exit: { paths: [], waits: false },
}

/** A graph from `type key path>target path>target`. */
function graphOf(...lines: string[]): Graph {
  return Object.fromEntries(
    lines.map((line) => {
      const [type = '', key = '', ...ways] = line.split(' ')
      const children = ways.map((way) => {
        const [path = '', external_id = ''] = way.split('>')
        return { external_id, path }
      })
      return [key, { type, name: '', x: 0, y: 0, data: {}, children }]
    }),
  )
}

const linesOf = (graph: Graph) =>
  Object.entries(graph).map(([key, { type, children }]) =>
    [type, key, ...children.map((child) => `${child.path}>${child.external_id}`)].join(' '),
  )

const LINE = graphOf('entrance in default>d', 'delay d default>out', 'exit out')
const FORK = graphOf('entrance in default>g', 'gate g yes>m no>out', 'action m default>out', 'exit out')

const commands: [string, Graph, Command, string[]][] = [
  [
    'a step is inserted into a way, and what followed stands on its first path',
    LINE,
    { do: 'insert', key: 'g', type: 'gate', at: { from: 'in', path: 'default' }, path: 'yes' },
    ['entrance in default>g', 'delay d default>out', 'exit out', 'gate g yes>d'],
  ],
  [
    'a step is added to a way that leads nowhere',
    graphOf('gate g yes>x', 'exit x'),
    { do: 'insert', key: 'd', type: 'delay', at: { from: 'g', path: 'no' }, path: 'default' },
    ['gate g yes>x no>d', 'exit x', 'delay d'],
  ],
  ['a key that is taken changes nothing', LINE, { do: 'insert', key: 'd', type: 'delay' }, linesOf(LINE)],
  ['a step is removed, and its ways lead on', LINE, { do: 'remove', key: 'd' }, ['entrance in default>out', 'exit out']],
  [
    'of a step with several ways the first one remains',
    FORK,
    { do: 'remove', key: 'g' },
    ['entrance in default>m', 'action m default>out', 'exit out'],
  ],
  ['the last step leaves an open way', LINE, { do: 'remove', key: 'out' }, ['entrance in default>d', 'delay d']],
  [
    'a step is moved into another way',
    FORK,
    { do: 'move', key: 'm', to: { from: 'in', path: 'default' }, path: 'default' },
    ['entrance in default>m', 'gate g yes>out no>out', 'exit out', 'action m default>g'],
  ],
  ['an entrance is not moved', LINE, { do: 'move', key: 'in', to: { from: 'd', path: 'default' }, path: 'default' }, linesOf(LINE)],
  [
    'a way is led elsewhere',
    FORK,
    { do: 'connect', at: { from: 'g', path: 'no' }, to: 'm' },
    [...linesOf(FORK).slice(0, 1), 'gate g yes>m no>m', ...linesOf(FORK).slice(2)],
  ],
  [
    'a way is led nowhere',
    LINE,
    { do: 'connect', at: { from: 'd', path: 'default' }, to: null },
    ['entrance in default>d', 'delay d', 'exit out'],
  ],
  ['a step does not lead to itself', LINE, { do: 'connect', at: { from: 'd', path: 'default' }, to: 'd' }, linesOf(LINE)],
]

describe('commands', () => {
  test.each(commands)('%s', (_, graph, command, expected) => {
    expect(linesOf(apply(graph, command)).toSorted()).toEqual(expected.toSorted())
  })

  test('a path that gets another name keeps its way, and one that is gone loses it', () => {
    const graph = graphOf('experiment e a>x b>y', 'exit x', 'exit y')
    const write = (...paths: string[]): Command => ({ do: 'write', key: 'e', data: { branches: paths.map((path) => ({ path })) } })
    const named = apply(graph, write('a', 'b'))
    expect(linesOf(apply(named, write('a', 'c')))[0]).toBe('experiment e a>x c>y')
    expect(linesOf(apply(named, write('a')))[0]).toBe('experiment e a>x')
  })

  describe('the name of a branch that is typed through the name of another', () => {
    const branches = (...paths: string[]) => ({ branches: paths.map((path) => ({ path })) })
    const gate = graphOf('gate g a>x b>y else>z', 'exit x', 'exit y', 'exit z')
    const start = { ...gate, g: { ...(gate.g as Graph[string]), data: branches('a', 'b') } }
    const typed = (...all: string[][]) =>
      all.reduce((history, paths) => give(history, { do: 'write', key: 'g', data: branches(...paths) }), begin(start))

    test('keeps its way, and so does the other one', () => {
      const history = typed(['a', ''], ['a', 'a'], ['a', 'au'])
      expect(linesOf(history.now)[0]).toBe('gate g a>x au>y else>z')
      expect(redo(undo(history)).now).toEqual(history.now)
      expect(undo(history).now).toEqual(start)
      expect(linesOf(typed(['b', 'b'], ['bi', 'b'], ['big', 'b']).now)[0]).toBe('gate g big>x b>y else>z')
    })

    test('after a branch was removed or added keeps its way too', () => {
      const removed = typed(['b'], ['be'])
      expect(linesOf(removed.now)[0]).toBe('gate g be>y else>z')
      expect(redo(undo(removed)).now).toEqual(removed.now)
      expect(linesOf(typed(['a', 'b', 'c'], ['a', 'be', 'c']).now)[0]).toBe('gate g a>x be>y else>z')
    })
  })

  test('each command can be undone and done again, and what is typed is undone together', () => {
    const name = (name: string): Command => ({ do: 'rename', key: 'd', name })
    const given = [name('T'), name('Tw'), { do: 'remove', key: 'd' } as const].reduce(give, begin(LINE))
    expect(given.commands).toHaveLength(2)
    expect(undo(given).now.d?.name).toBe('Tw')
    expect(undo(undo(given)).now).toEqual(LINE)
    expect(redo(undo(given)).now).toEqual(given.now)
    expect(undo(begin(LINE))).toEqual(begin(LINE))
    // A new command takes the place of those that were undone.
    expect(redo(give(undo(given), { do: 'remove', key: 'out' })).now.d).toBeDefined()
  })
})

describe('ways', () => {
  const paths: [string, Record<string, unknown>, string[]][] = [
    ['gate', {}, ['yes', 'no']],
    ['gate', { branches: [{ path: 'pro' }] }, ['pro', 'else']],
    ['wait_until', {}, ['timeout']],
    ['wait_until', { conditions: [{ path: 'paid' }] }, ['paid', 'timeout']],
    ['experiment', { branches: [] }, []],
    ['experiment', { branches: [{ path: 'x' }, { path: 'y' }] }, ['x', 'y']],
    ['delay', {}, ['default', 'past']],
  ]
  test.each(paths)('of a %s with %j are %j', (type, data, expected) => {
    expect(pathsOf({ type, name: '', x: 0, y: 0, data, children: [] }, KINDS)).toEqual(expected)
    expect(firstPath(data, type, KINDS)).toBe(expected[0])
  })

  test('settings name paths in their lists only', () => {
    expect(namedPaths({ branches: [{ path: 'a' }, { path: 'b' }], path: 'c', rule: {} })).toEqual(['a', 'b'])
  })

  test('lead to no entrance, and back only over a wait', () => {
    expect(targetsFor(FORK, 'm', KINDS).toSorted()).toEqual(['out'])
    const loop = graphOf('entrance in default>m', 'action m default>d', 'delay d default>out', 'exit out')
    expect(targetsFor(loop, 'out', KINDS)).toEqual(['m', 'd'])
    expect(targetsFor(loop, 'd', KINDS)).toEqual(['m', 'out'])
  })

  test('the steps that no entrance leads to are known', () => {
    expect(unreached(graphOf('entrance in default>out', 'exit out', 'delay d default>out'))).toEqual(['d'])
  })
})

describe('the outline', () => {
  const rows = (graph: Graph) =>
    outlineOf(graph, KINDS).map((row) => {
      const way = row.isBranch ? `${row.at?.path}: ` : ''
      return `${'  '.repeat(row.level - 1)}${way}${row.is === 'end' ? '+' : row.is === 'jump' ? `> ${row.key}` : row.key}`
    })

  test('has steps one after another on a level', () => {
    expect(rows(LINE)).toEqual(['in', 'd', 'out'])
  })

  test('has branches a level below, and what they lead to together after them', () => {
    const graph = graphOf(
      'entrance in default>g',
      'gate g yes>a no>b',
      'action a default>m',
      'delay b default>m',
      'action m default>out',
      'exit out',
    )
    expect(rows(graph)).toEqual(['in', 'g', '  yes: a', '  no: b', 'm', 'out'])
  })

  test('says where a way jumps, and which leads nowhere', () => {
    expect(rows(FORK)).toEqual(['in', 'g', '  yes: m', '  no: > out', 'out'])
    expect(rows(graphOf('entrance in default>g', 'gate g yes>d', 'delay d default>g'))).toEqual(['in', 'g', '  yes: d', '  > g', '  no: +'])
  })

  test('has every step once, those that no way leads to at the end', () => {
    const graph = graphOf('entrance in default>out', 'exit out', 'delay d default>out')
    expect(rows(graph)).toEqual(['in', 'out', 'd', '> out'])
  })

  test('says where a step is moved by one row', () => {
    const graph = graphOf('entrance in default>a', 'action a default>b', 'delay b default>out', 'exit out')
    const shown = outlineOf(graph, KINDS)
    expect(neighbours(graph, shown, 'b', KINDS)).toEqual({ up: { from: 'in', path: 'default' }, down: undefined })
    expect(neighbours(graph, shown, 'a', KINDS)).toEqual({ up: undefined, down: { from: 'b', path: 'default' } })
    expect(neighbours(graph, shown, 'in', KINDS)).toEqual({})
  })
})

describe('copied steps', () => {
  const copied = (graph: Graph, ...keys: string[]) => copyOf(graph, new Set(keys), outlineOf(graph, KINDS))
  const pasted = (graph: Graph, steps: Graph, from?: string, path = 'default') => {
    const command = pasteOf(graph, steps, KINDS, from === undefined ? undefined : { from, path })
    return command && linesOf(apply(graph, command))
  }

  test('lead on where a step between them is left out', () => {
    expect(linesOf(copied(FORK, 'in', 'm', 'out'))).toEqual(['entrance in default>m', 'action m default>out', 'exit out'])
    expect(linesOf(copied(FORK, 'm'))).toEqual(['action m'])
  })

  test('stand in a way under new keys, and what followed there follows the last one', () => {
    const long = graphOf('entrance in default>d', 'delay d default>delay_1', 'delay delay_1 default>m', 'action m default>out', 'exit out')
    expect(pasted(long, copied(long, 'delay_1', 'm'), 'm')).toEqual(
      [
        ...['entrance in default>d', 'delay d default>delay_1', 'delay delay_1 default>m', 'action m default>action_1', 'exit out'],
        ...['delay delay_2 default>action_1', 'action action_1 default>out'],
      ].map((line) => line.replace('action m default>action_1', 'action m default>delay_2')),
    )
  })

  test('end a way that was open', () => {
    const open = graphOf('entrance in default>g', 'gate g yes>out', 'exit out')
    expect(pasted(open, copied(LINE, 'd', 'out'), 'g', 'no')).toEqual([
      ...['entrance in default>g', 'gate g yes>out no>delay_1', 'exit out'],
      ...['delay delay_1 default>exit_1', 'exit exit_1'],
    ])
  })

  test('with an entrance stand by themselves', () => {
    const all = pasted(LINE, copied(LINE, 'in', 'd'))
    expect(all).toEqual([...linesOf(LINE), 'entrance entrance_1 default>delay_1', 'delay delay_1'])
    expect(pasted(LINE, copied(LINE, 'in', 'd'), 'd')).toEqual(all)
  })

  test.each<[string, Graph, string | undefined]>([
    ['would cut off what follows', copied(LINE, 'd', 'out'), 'in'],
    ['have no place without a way', copied(LINE, 'd'), undefined],
    ['are none', {}, 'in'],
  ])('are not pasted if they %s', (_, steps, from) => {
    expect(pasted(LINE, steps, from)).toBe(undefined)
  })

  test('are pasted by one command, which is undone as one, and removed by one', () => {
    const command = pasteOf(LINE, copied(LINE, 'd'), KINDS, { from: 'd', path: 'default' })
    if (!command) throw new Error('Nothing is pasted.')
    const history = give(begin(LINE), command)
    expect(Object.keys(history.now)).toEqual(['in', 'd', 'out', 'delay_1'])
    expect(undo(history).now).toEqual(LINE)
    expect(linesOf(give(history, { do: 'remove-all', keys: ['d', 'delay_1'] }).now)).toEqual(['entrance in default>out', 'exit out'])
  })
})

describe('the secrets of copied steps', () => {
  const call = (headers: object): Graph => ({
    call: { type: 'webhook', name: '', x: 0, y: 0, data: { url: 'https://a.example', headers }, children: [] },
  })
  const typed = call({ authorization: { secret: 'Bearer sk_live' }, 'x-plan': 'pro' })

  test('are not kept in the browser, and meant by their placeholder in the same journey', () => {
    const kept = keptOf(1, typed)
    expect(kept).not.toContain('sk_live')
    const steps = call({ authorization: { secret: '********' }, 'x-plan': 'pro' })
    expect(keptFor(1, kept)).toEqual({ steps, lacksSecrets: false })
  })

  test('are left out in another journey, which cannot know them', () => {
    expect(keptFor(2, keptOf(1, typed))).toEqual({ steps: call({ 'x-plan': 'pro' }), lacksSecrets: true })
    const open = call({ 'x-plan': 'pro' })
    expect(keptFor(2, keptOf(1, open))).toEqual({ steps: open, lacksSecrets: false })
  })
})
