/** The commands that were given, so that each can be undone and done again. Pure. */
import { apply, type Command, type Graph, namedPaths } from './graph.ts'

/** `at` commands are in force; those after it were undone. `now` is the graph that they make of `start`. */
export type History = { start: Graph; commands: Command[]; at: number; now: Graph }

/** The commands that are kept. Older ones cannot be undone. */
const COMMANDS_MAX = 200

/** A history in which nothing was done yet. */
export const begin = (start: Graph): History => ({ start, commands: [], at: 0, now: start })

/** Does a command. Commands that were undone before can no longer be redone. A command that changes nothing is not kept. */
export function give(history: History, command: Command): History {
  const now = apply(history.now, command)
  if (now === history.now) return history
  const given = history.commands.slice(0, history.at)
  const last = given.at(-1)
  if (last !== undefined && isSameField(last, command)) {
    // Each key that is typed is a command; undone together. What a name was called on the way to it leaves no trace.
    const before = given.slice(0, -1).reduce(apply, history.start)
    if (keepsPaths(before, last, command)) {
      const commands = given.with(-1, command)
      return { ...history, commands, at: commands.length, now: apply(before, command) }
    }
  }
  const commands = [...given, command]
  if (commands.length <= COMMANDS_MAX) return { ...history, commands, at: commands.length, now }
  return { start: apply(history.start, commands[0] as Command), commands: commands.slice(1), at: COMMANDS_MAX, now }
}

export const undo = (history: History): History => to(history, history.at - 1)
export const redo = (history: History): History => to(history, history.at + 1)

function to(history: History, at: number): History {
  if (at < 0 || at > history.commands.length) return history
  return { ...history, at, now: history.commands.slice(0, at).reduce(apply, history.start) }
}

/** Whether neither command adds or removes a named path: one that does is undone by itself. */
function keepsPaths(graph: Graph, ...commands: Command[]): boolean {
  return commands.every(
    (command) => command.do !== 'write' || namedPaths(command.data).length === namedPaths(graph[command.key]?.data ?? {}).length,
  )
}

/** Whether the second command continues the first: the same name, or the same setting. */
function isSameField(first: Command, second: Command): boolean {
  if (first.do === 'rename') return second.do === 'rename' && second.key === first.key
  if (first.do !== 'write' || second.do !== 'write' || second.key !== first.key) return false
  const names = new Set([...Object.keys(first.data), ...Object.keys(second.data)])
  return [...names].filter((name) => JSON.stringify(first.data[name]) !== JSON.stringify(second.data[name])).length === 1
}
