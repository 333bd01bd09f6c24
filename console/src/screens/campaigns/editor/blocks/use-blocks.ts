import { useState } from 'react'
import { type Block, blocksOf, mjmlOf } from './document.ts'
import { begin, type Command, give, type History, redo, undo } from './edit.ts'

type Blocks = {
  blocks: Block[]
  give: (command: Command) => void
  undo: (() => void) | undefined
  redo: (() => void) | undefined
}

/** Edits MJML as blocks; null if it cannot be shown as blocks. */
export function useBlocks(mjml: string, onChange: (mjml: string) => void): Blocks | null {
  const [history, setHistory] = useState<History | null>(null)
  const isKnown = history !== null && mjmlOf(history.now) === mjml
  if (!isKnown) {
    // The first time, or what came from elsewhere: another member, an earlier version, the MJML tab.
    const read = blocksOf(mjml)
    if (read) setHistory(begin(read))
    return read && { blocks: read, give: () => {}, undo: undefined, redo: undefined }
  }
  const to = (next: History) => {
    if (next.now === history.now) return
    setHistory(next)
    onChange(mjmlOf(next.now))
  }
  return {
    blocks: history.now,
    give: (command) => to(give(history, command)),
    undo: history.before.length > 0 ? () => to(undo(history)) : undefined,
    redo: history.after.length > 0 ? () => to(redo(history)) : undefined,
  }
}
