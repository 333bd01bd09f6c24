/** Texts compared by lines. */

/** Lines of the old text, from the one at `from` to before the one at `to`, that became other lines. */
export type Change = { from: number; to: number; lines: string[] }

/** Above so many pairs of lines, what lies between the first and the last difference is one change. */
const PAIRS_MAX = 4_000_000

/** What happened to the lines of a text, in their order. */
export function changesOf(before: string[], after: string[]): Change[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const old = before.slice(start, before.length - end)
  const now = after.slice(start, after.length - end)
  if (old.length === 0 && now.length === 0) return []
  if (old.length * now.length > PAIRS_MAX) return [{ from: start, to: start + old.length, lines: now }]
  return between(old, now).map(({ from, to, lines }) => ({ from: from + start, to: to + start, lines }))
}

/** Keeps a longest common sequence of lines. */
function between(old: string[], now: string[]): Change[] {
  const width = now.length + 1
  // How many lines can be kept from line `i` of the old text and line `j` of the new one on.
  const kept = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => kept[i * width + j] as number
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      kept[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const changes: Change[] = []
  let open: Change | undefined
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      open = undefined
      i++
      j++
      continue
    }
    if (!open) {
      open = { from: i, to: i, lines: [] }
      changes.push(open)
    }
    if (j < now.length && (i === old.length || at(i, j + 1) >= at(i + 1, j))) open.lines.push(now[j++] as string)
    else open.to = ++i
  }
  return changes
}

const isSame = (a: Change, b: Change) => a.from === b.from && a.to === b.to && a.lines.join('\n') === b.lines.join('\n')

/** Both changes of a text, unless they concern the same lines or lines side by side. */
export function mergeTexts(base: string, mine: string, theirs: string): string | undefined {
  const lines = base.split('\n')
  const made = [...changesOf(lines, mine.split('\n')), ...changesOf(lines, theirs.split('\n'))].sort(
    (a, b) => a.from - b.from || a.to - b.to,
  )
  const merged: string[] = []
  let done = 0
  for (const [index, change] of made.entries()) {
    const last = made[index - 1]
    if (last && isSame(last, change)) continue
    if (last && change.from <= last.to) return undefined
    merged.push(...lines.slice(done, change.from), ...change.lines)
    done = change.to
  }
  return [...merged, ...lines.slice(done)].join('\n')
}

/** A line of a comparison: in both texts, only in the old or only in the new one, or how many lines in both are not shown. */
export type ComparedLine = { is: 'kept' | 'left' | 'new' | 'skipped'; text: string }

/** So many lines are shown around a change. */
const AROUND = 2

/** The lines of two texts, those that are in both only around the changes. */
export function comparedLines(before: string, after: string): ComparedLine[] {
  const lines = before.split('\n')
  const changes = changesOf(lines, after.split('\n'))
  const found: ComparedLine[] = []
  const keep = (from: number, to: number) => found.push(...lines.slice(from, to).map((text): ComparedLine => ({ is: 'kept', text })))
  const between = (from: number, to: number, first: boolean, last: boolean) => {
    const start = first ? from : Math.min(from + AROUND, to)
    const end = last ? to : Math.max(to - AROUND, start)
    if (end - start <= 1) return keep(from, to)
    keep(from, start)
    found.push({ is: 'skipped', text: String(end - start) })
    keep(end, to)
  }
  let done = 0
  for (const [index, { from, to, lines: added }] of changes.entries()) {
    between(done, from, index === 0, false)
    found.push(...lines.slice(from, to).map((text): ComparedLine => ({ is: 'left', text })))
    found.push(...added.map((text): ComparedLine => ({ is: 'new', text })))
    done = to
  }
  between(done, lines.length, changes.length === 0, true)
  return found
}
