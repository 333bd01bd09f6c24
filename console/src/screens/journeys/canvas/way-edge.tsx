import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react'
import { useTranslation } from 'react-i18next'
import { Num } from '../../../parts/number.tsx'
import { DEFAULT_PATH } from '../model/graph.ts'
import type { WayData } from './drawn.ts'

/** A way between two steps: its path, how many users took it, and the button that adds a step into it. */
export function WayEdge({ sourceX, sourceY, targetX, targetY, data, selected }: EdgeProps<Edge<WayData>>) {
  const { t } = useTranslation('journeys')
  if (!data) return null
  const { path, line, label, users, mayWrite, onAdd } = data
  return (
    <>
      <BaseEdge path={line({ x: sourceX, y: sourceY }, { x: targetX, y: targetY })} className={selected ? 'on' : ''} />
      <EdgeLabelRenderer>
        <span className="ct nodrag nopan" style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}>
          {path !== DEFAULT_PATH && <span>{path}</span>}{' '}
          {users !== undefined && (
            <b>
              <Num value={users} />
            </b>
          )}
          {mayWrite && (
            <button type="button" onClick={onAdd} aria-label={t('canvas.insert', { path })}>
              +
            </button>
          )}
        </span>
      </EdgeLabelRenderer>
    </>
  )
}
