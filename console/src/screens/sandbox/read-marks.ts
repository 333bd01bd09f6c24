import { useState } from 'react'
import { keepInBrowser } from '../../session/keep.ts'

/** Which captured messages this browser has opened: all up to one, and some after it. */
export type ReadMarks = { upTo: number; ids: number[] }

const IDS_MAX = 500
const NONE: ReadMarks = { upTo: 0, ids: [] }

export const isRead = ({ upTo, ids }: ReadMarks, id: number): boolean => id <= upTo || ids.includes(id)

/** With one more message that was opened. The oldest marks are dropped first. */
export const withRead = (marks: ReadMarks, id: number): ReadMarks =>
  isRead(marks, id) ? marks : { ...marks, ids: [...marks.ids, id].slice(-IDS_MAX) }

/** With everything up to the newest message, whose id is the highest. */
export const withAllRead = ({ upTo }: ReadMarks, ids: number[]): ReadMarks => ({ upTo: Math.max(upTo, ...ids), ids: [] })

/** Reads the stored marks; anything other than marks is ignored. */
export function marksOf(stored: string | null): ReadMarks {
  try {
    const { upTo, ids } = JSON.parse(stored ?? '') as Partial<ReadMarks>
    return typeof upTo === 'number' && Array.isArray(ids) ? { upTo, ids: ids.filter((id) => typeof id === 'number') } : NONE
  } catch {
    return NONE
  }
}

/** The marks of a project, which stay in this browser. */
export function useReadMarks(projectId: number) {
  const key = `carillon.sandbox-read.${projectId}`
  const [marks, setMarks] = useState(() => marksOf(localStorage.getItem(key)))
  const keep = (next: ReadMarks) => {
    keepInBrowser(key, JSON.stringify(next))
    setMarks(next)
  }
  return [marks, keep] as const
}
