/** Where the canvas draws each step and each way: in ranks from top to bottom, by Dagre. */
import { Graph as Layered, layout } from '@dagrejs/dagre'
import { type Graph, waysOf } from '../model/graph.ts'

export const NODE_WIDTH = 210
export const NODE_HEIGHT = 58
const RANK_GAP = 64
const NODE_GAP = 32
const LETTER_WIDTH = 7
const LABEL = { height: 28, margin: 64 }

export type Point = { x: number; y: number }

/** The upper left corner of each step, and the line and the label of each way, by `from:path`. */
export type Picture = { steps: Map<string, Point>; ways: Map<string, { points: Point[]; label: Point }> }

export const wayId = (from: string, path: string): string => `${from}:${path}`

/** Arranges a graph so that ways go around the steps. */
export function pictureOf(graph: Graph): Picture {
  const layered = new Layered({ multigraph: true })
  layered.setGraph({ rankdir: 'TB', ranksep: RANK_GAP, nodesep: NODE_GAP })
  for (const key of Object.keys(graph)) layered.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT })
  const ways = waysOf(graph).filter(({ to }) => to in graph)
  for (const { from, to, path } of ways)
    layered.setEdge(from, to, { width: path.length * LETTER_WIDTH + LABEL.margin, height: LABEL.height, labelpos: 'c' }, path)
  layout(layered)
  const stepAt = (key: string) => {
    const { x = 0, y = 0 } = layered.node(key) as Partial<Point>
    return { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }
  }
  const wayAt = (from: string, to: string, path: string) => {
    const { x = 0, y = 0, points = [] } = layered.edge(from, to, path) as Partial<Point> & { points?: Point[] }
    return { points, label: { x, y } }
  }
  return {
    steps: new Map(Object.keys(graph).map((key) => [key, stepAt(key)])),
    ways: new Map(ways.map(({ from, to, path }) => [wayId(from, path), wayAt(from, to, path)])),
  }
}

/** A line through points, as an SVG path with round corners. */
export function lineThrough([first, ...points]: Point[]): string {
  if (!first) return ''
  const parts = points.map(({ x, y }, index) => {
    const next = points[index + 1]
    // Each point is what the line bends towards; halfway to the next one it is straight again.
    return next ? `Q ${x} ${y} ${(x + next.x) / 2} ${(y + next.y) / 2}` : `L ${x} ${y}`
  })
  return [`M ${first.x} ${first.y}`, ...parts].join(' ')
}
