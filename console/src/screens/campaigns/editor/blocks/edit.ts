/** What can be done to blocks, and undone. Pure. */
import type { Block, Columns, Leaf } from './document.ts'
import { type KindName, kindOf } from './kinds.ts'

/** The list that a block is in: the email, or a column of columns. */
export type ListPlace = { columns: number; index: number } | undefined

export type Command =
  | { do: 'add'; is: Block['is']; to: ListPlace }
  | { do: 'write'; id: number; field: string; value: string }
  | { do: 'move'; id: number; by: -1 | 1 }
  | { do: 'copy'; id: number }
  | { do: 'remove'; id: number }

const COLUMNS = 2

const idsOf = (blocks: Block[]): number[] =>
  blocks.flatMap((block) => (block.is === 'columns' ? [block.id, ...block.columns.flatMap(idsOf)] : [block.id]))

/** The id that the next block gets. */
export const nextIdOf = (blocks: Block[]): number => Math.max(0, ...idsOf(blocks)) + 1

/** Does a command. Returns the same blocks where it changes nothing. */
export function apply(blocks: Block[], command: Command): Block[] {
  if (command.do === 'add') return add(blocks, command)
  return inListOf(blocks, command.id, (list, at) => {
    const block = list[at] as Block
    switch (command.do) {
      case 'write':
        return block.is === 'columns' ? list : list.with(at, { ...block, values: { ...block.values, [command.field]: command.value } })
      case 'move': {
        const to = at + command.by
        const other = list[to]
        return other === undefined ? list : list.with(at, other).with(to, block)
      }
      case 'copy':
        return list.toSpliced(at + 1, 0, copyOf(block, nextIdOf(blocks)))
      case 'remove':
        return list.toSpliced(at, 1)
      default:
        return command satisfies never
    }
  })
}

function add(blocks: Block[], { is, to }: Extract<Command, { do: 'add' }>): Block[] {
  const id = nextIdOf(blocks)
  if (to === undefined)
    return [...blocks, is === 'columns' ? { id, is, columns: Array.from({ length: COLUMNS }, () => []) } : leafOf(id, is)]
  if (is === 'columns') return blocks
  return blocks.map((block) =>
    block.is === 'columns' && block.id === to.columns
      ? { ...block, columns: block.columns.map((list, index) => (index === to.index ? [...list, leafOf(id, is)] : list)) }
      : block,
  )
}

const leafOf = (id: number, is: KindName): Leaf => ({ id, is, values: { ...kindOf(is).start } })

function copyOf(block: Block, id: number): Block {
  if (block.is !== 'columns') return { ...block, id }
  let last = id
  return { ...block, id, columns: block.columns.map((list) => list.map((leaf) => ({ ...leaf, id: ++last }))) }
}

/** Changes the list in which a block is. A column has no columns: what is done to its list leaves it one of leaves. */
function inListOf(blocks: Block[], id: number, change: (list: Block[], at: number) => Block[]): Block[] {
  const at = blocks.findIndex((block) => block.id === id)
  if (at !== -1) return change(blocks, at)
  return blocks.map((block): Block => {
    if (block.is !== 'columns' || !block.columns.some((list) => list.some((leaf) => leaf.id === id))) return block
    const columns = block.columns.map((list) => {
      const at = list.findIndex((leaf) => leaf.id === id)
      return at === -1 ? list : (change(list, at) as Leaf[])
    })
    return { ...block, columns } satisfies Columns
  })
}

/** `now` is what is edited. What is typed into one field is undone together. */
export type History = { now: Block[]; before: Block[][]; after: Block[][]; field?: string }

const STEPS_MAX = 200

/** A history in which nothing was done yet. */
export const begin = (now: Block[]): History => ({ now, before: [], after: [] })

/** Does a command. Commands that were undone before can no longer be redone. */
export function give(history: History, command: Command): History {
  const now = apply(history.now, command)
  if (now === history.now) return history
  const field = command.do === 'write' ? `${command.id}.${command.field}` : undefined
  if (field !== undefined && field === history.field) return { ...history, now, after: [] }
  return { now, before: [...history.before, history.now].slice(-STEPS_MAX), after: [], ...(field !== undefined && { field }) }
}

/** Goes back by one command. */
export function undo({ now, before, after }: History): History {
  const last = before.at(-1)
  return last ? { now: last, before: before.slice(0, -1), after: [now, ...after] } : { now, before, after }
}

/** Does again what was undone. */
export function redo({ now, before, after }: History): History {
  const [next, ...rest] = after
  return next ? { now: next, before: [...before, now], after: rest } : { now, before, after }
}
