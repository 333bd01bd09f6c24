import type { Step } from '../model/graph.ts'
import type { Point } from './layout.ts'

/** What is drawn of a step. */
export type StepData = {
  step: Step
  title: string
  about: string
  here: number
  isFaulty: boolean
  isOpen: boolean
  isMarked: boolean
  /** The ways out, each with whether it leads somewhere. */
  paths: { path: string; isOpen: boolean }[]
  isRoot: boolean
  mayWrite: boolean
  onAdd: (path: string) => void
}

/** What is drawn of a way. */
export type WayData = {
  path: string
  line: (start: Point, end: Point) => string
  label: Point
  users: number | undefined
  mayWrite: boolean
  onAdd: () => void
}
