/**
 * How many characters have to be inserted, deleted, replaced or swapped with their neighbour to turn one text into the other. Returns some
 * number above `most` as soon as it is clear that there are more than that.
 */
export function editDistance(one: string, other: string, most = Number.POSITIVE_INFINITY): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      let steps = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) steps = Math.min(steps, at(beforeLast, j - 2) + 1)
      row.push(steps)
      if (steps < least) least = steps
    }
    // A swap begins in the row before the last.
    if (least > most && Math.min(...last) > most) return least
    beforeLast = last
    last = row
  }
  return at(last, other.length)
}

const at = (row: number[], index: number): number => row[index] as number
