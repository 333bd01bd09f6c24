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

/** Lines that both have changed, each into other ones. */
export type Part = { mine: string; theirs: string }

/** Both changes of a text. Where they concern the same lines, `mine` has mine and `theirs` has theirs; all other changes are in both. */
export type MergedText = { mine: string; theirs: string; parts: Part[] }

/** Changes that concern the same lines, or those of one side. */
type Place = { from: number; to: number; mine: Change[]; theirs: Change[] }

/** Brings both changes of a text together. */
export function mergeTexts(base: string, mine: string, theirs: string): MergedText {
  const lines = base.split('\n')
  const places = placesOf(changesOf(lines, mine.split('\n')), changesOf(lines, theirs.split('\n')))
  const made: { mine: string[]; theirs: string[] } = { mine: [], theirs: [] }
  const parts: Part[] = []
  const give = (ofMine: string[], ofTheirs: string[]) => {
    made.mine.push(...ofMine)
    made.theirs.push(...ofTheirs)
  }
  let done = 0
  for (const place of places) {
    const before = lines.slice(done, place.from)
    give(before, before)
    const [ofMine, ofTheirs] = [place.mine, place.theirs].map((changes) => applied(lines, place, changes)) as [string[], string[]]
    const isOfBoth = place.mine.length > 0 && place.theirs.length > 0 && ofMine.join('\n') !== ofTheirs.join('\n')
    if (isOfBoth) {
      give(ofMine, ofTheirs)
      parts.push({ mine: ofMine.join('\n'), theirs: ofTheirs.join('\n') })
    } else {
      const changed = place.mine.length > 0 ? ofMine : ofTheirs
      give(changed, changed)
    }
    done = place.to
  }
  const rest = lines.slice(done)
  give(rest, rest)
  return { mine: made.mine.join('\n'), theirs: made.theirs.join('\n'), parts }
}

/** Changes by place. Lines side by side are two places, unless both have put lines between the same two. */
function placesOf(mine: Change[], theirs: Change[]): Place[] {
  const all = [
    ...mine.map((change) => ({ change, side: 'mine' as const })),
    ...theirs.map((change) => ({ change, side: 'theirs' as const })),
  ]
  all.sort(({ change: a }, { change: b }) => a.from - b.from || a.to - b.to)
  const places: Place[] = []
  for (const { change, side } of all) {
    const last = places.at(-1)
    const areBetween = last !== undefined && last.from === last.to && change.from === change.to && change.from === last.to
    if (last && (change.from < last.to || areBetween)) {
      last[side].push(change)
      last.to = Math.max(last.to, change.to)
    } else places.push({ from: change.from, to: change.to, mine: [], theirs: [], [side]: [change] })
  }
  return places
}

/** The lines of a place as one side has made them. */
function applied(lines: string[], { from, to }: Place, changes: Change[]): string[] {
  const made: string[] = []
  let done = from
  for (const change of changes) {
    made.push(...lines.slice(done, change.from), ...change.lines)
    done = change.to
  }
  return [...made, ...lines.slice(done, to)]
}

/** A line of a comparison: in both texts, only in the old or only in the new one, or how many lines in both are not shown. */
export type ComparedLine = { is: 'kept' | 'left' | 'new' | 'skipped'; text: string }

/** So many lines are shown around a change. */
const AROUND = 2

/** The lines of two texts. Lines that are in both are included only around the changes. */
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
