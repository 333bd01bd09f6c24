/** Counts the rows of a file while it is received, so that the progress of its import can be told in rows. Pure. */

import { CR, LF, QUOTE } from '../../lib/csv.ts'

const [SPACE, TAB] = [32, 9]

/**
 * Returns a function that takes the bytes of a file after its header line, piece by piece, and returns the number of rows so far. Empty
 * lines are not rows; line breaks between quotation marks are part of a cell.
 */
export function rowCounter(delimiter: string): (bytes: Buffer) => number {
  const separator = delimiter.charCodeAt(0)
  let rows = 0
  let isInRow = false
  // Only a quotation mark at the start of a cell opens one, as when the rows are read.
  let isAtCellStart = true
  let isQuoted = false
  let hasJustClosed = false
  return (bytes) => {
    for (const byte of bytes) {
      if (isQuoted) {
        isQuoted = byte !== QUOTE
        hasJustClosed = !isQuoted
        continue
      }
      // A second quotation mark inside a quoted cell opens it again.
      isQuoted = byte === QUOTE && (isAtCellStart || hasJustClosed)
      hasJustClosed = false
      const isBreak = byte === LF || byte === CR
      const isEmpty = byte === separator || byte === SPACE || byte === TAB
      if (!isBreak && !isInRow && !isEmpty) rows++
      isInRow = !isBreak && (isInRow || !isEmpty)
      isAtCellStart = isBreak || byte === separator
    }
    return rows
  }
}
