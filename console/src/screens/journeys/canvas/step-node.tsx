import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { useTranslation } from 'react-i18next'
import { Num } from '../../../parts/number.tsx'
import { iconOf } from '../steps/icons.ts'
import type { StepData } from './drawn.ts'

/** A step on the canvas, with the users who are there on its corner. */
export function StepNode({ data }: NodeProps<Node<StepData>>) {
  const { t } = useTranslation('journeys')
  const { step, title, about, here, isFaulty, isOpen, isMarked, paths, isRoot, mayWrite, onAdd } = data
  const [IconOf, tone] = iconOf(step.type)
  const open = paths.filter(({ isOpen }) => isOpen)
  return (
    <div
      className={['nd', isOpen && 'on', isMarked && 'marked', isFaulty && 'faulty', step.type === 'exit' && 'ex'].filter(Boolean).join(' ')}
    >
      {!isRoot && <Handle type="target" position={Position.Top} />}
      <span className={`badge ${tone}`}>
        <IconOf size={16} stroke={1.5} aria-hidden />
      </span>
      <span>
        <b>{title}</b>
        {about !== '' && <small>{about}</small>}
      </span>
      {here > 0 && (
        <span className="here">
          <Num value={here} /> {t('panel.here')}
        </span>
      )}
      {paths.map(({ path }, index) => (
        <Handle
          key={path}
          id={path}
          type="source"
          position={Position.Bottom}
          style={{ left: `${(100 * (index + 1)) / (paths.length + 1)}%` }}
        />
      ))}
      {mayWrite && open.length > 0 && (
        <span className="open-ways nodrag">
          {open.map(({ path }) => (
            <button
              key={path}
              type="button"
              onClick={(event) => press(event, () => onAdd(path))}
              aria-label={t('addOn', { path, step: title })}
            >
              {paths.length > 1 ? `+ ${path}` : '+'}
            </button>
          ))}
        </span>
      )}
    </div>
  )
}

/** A button on a step does not open the step. */
function press(event: { stopPropagation: () => void }, run: () => void) {
  event.stopPropagation()
  run()
}
