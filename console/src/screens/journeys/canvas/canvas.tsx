import { Background, Controls, type Edge, MiniMap, type Node, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMantineColorScheme } from '@mantine/core'
import { useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { isMarking } from '../marking.tsx'
import { DEFAULT_PATH, type Graph, isRoot, shownPaths, targetOf, targetsFor, waysOf } from '../model/graph.ts'
import type { ShownSteps } from '../outline.tsx'
import './canvas.css'
import type { StepData, WayData } from './drawn.ts'
import { lineThrough, NODE_HEIGHT, NODE_WIDTH, type Picture, type Point, pictureOf, wayId } from './layout.ts'
import { StepNode } from './step-node.tsx'
import { WayEdge } from './way-edge.tsx'

const NODES = { step: StepNode }
const EDGES = { way: WayEdge }
const MAP = { width: 90, height: 120 }
const FIT = { maxZoom: 1, padding: 0.15 }

/** The steps as a diagram, which is arranged automatically: steps are added into ways, not at positions. */
export function Canvas(props: ShownSteps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  )
}

function Flow({ editing, stats, faulty, selected, marking, onOpen, onAdd }: ShownSteps) {
  const { t } = useTranslation('journeys')
  const { colorScheme } = useMantineColorScheme()
  const { graph, meta, mayWrite, give } = editing
  const picture = useMemo(() => pictureOf(graph), [graph])
  const nodes = nodesOf({ editing, stats, faulty, selected, marking, onAdd, picture })
  const edges = edgesOf({ editing, stats, selected, onAdd, picture })
  const isTarget = (from: string | null, to: string | null) =>
    from !== null && to !== null && targetsFor(graph, from, meta.steps).includes(to)
  return (
    <section className="cv" aria-label={t('canvas.label')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        colorMode={colorScheme === 'auto' ? 'system' : colorScheme}
        nodesDraggable={false}
        nodesConnectable={mayWrite}
        edgesFocusable={false}
        // Steps are removed by their panel or the outline, which keep the ways.
        deleteKeyCode={null}
        minZoom={0.2}
        fitView
        fitViewOptions={FIT}
        isValidConnection={({ source, target }) => isTarget(source, target)}
        onConnect={({ source, target, sourceHandle }) =>
          give({ do: 'connect', at: { from: source, path: sourceHandle ?? DEFAULT_PATH }, to: target })
        }
        onNodeClick={(event, { id }) => (isMarking(event) ? marking.toggle(id) : onOpen(id))}
        // Steps are marked one by one, which needs no dragging.
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        proOptions={{ hideAttribution: true }}
        ariaLabelConfig={{
          'node.a11yDescription.default': t('canvas.aboutStep'),
          'node.a11yDescription.keyboardDisabled': t('canvas.aboutStep'),
          'edge.a11yDescription.default': t('canvas.aboutWay'),
          'controls.ariaLabel': t('canvas.zoom'),
          'controls.zoomIn.ariaLabel': t('canvas.zoomIn'),
          'controls.zoomOut.ariaLabel': t('canvas.zoomOut'),
          'controls.fitView.ariaLabel': t('canvas.fit'),
          'minimap.ariaLabel': t('canvas.map'),
          'handle.ariaLabel': t('canvas.handle'),
        }}
      >
        <Background gap={20} />
        <Controls showInteractive={false} fitViewOptions={FIT} aria-label={t('canvas.zoom')} />
        <MiniMap pannable zoomable style={MAP} ariaLabel={t('canvas.map')} />
        <View graph={graph} selected={selected} />
      </ReactFlow>
    </section>
  )
}

/** Fits the picture when it has more or fewer steps or another width, and brings the open step into view where it is outside. */
function View({ graph, selected }: { graph: Graph; selected: string | undefined }) {
  const { fitView, getZoom, getNodesBounds, flowToScreenPosition } = useReactFlow()
  const count = Object.keys(graph).length
  const width = useStore((state) => state.width)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the number of steps and the width are what it waits for.
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitView(FIT))
    return () => cancelAnimationFrame(frame)
  }, [count, width, fitView])
  useEffect(() => {
    const box = document.querySelector('.cv')?.getBoundingClientRect()
    if (selected === undefined || !box) return
    const { x, y, width, height } = getNodesBounds([selected])
    const [from, to] = [flowToScreenPosition({ x, y }), flowToScreenPosition({ x: x + width, y: y + height })]
    const isSeen = from.x >= box.left && to.x <= box.right && from.y >= box.top && to.y <= box.bottom
    if (!isSeen) void fitView({ nodes: [{ id: selected }], minZoom: getZoom(), maxZoom: getZoom() })
  }, [selected, fitView, getZoom, getNodesBounds, flowToScreenPosition])
  return null
}

type Drawn = Omit<ShownSteps, 'onOpen'> & { picture: Picture }

function nodesOf({ editing, stats, faulty, selected, marking, onAdd, picture: { steps: places } }: Drawn): Node<StepData>[] {
  const { graph, meta, words, mayWrite } = editing
  const xOf = (key: string | undefined) => (key === undefined ? 0 : (places.get(key)?.x ?? 0))
  return Object.entries(graph).map(([key, step]) => {
    const { title, about } = words(step)
    return {
      id: key,
      type: 'step',
      position: places.get(key) ?? { x: 0, y: 0 },
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      ariaLabel: title,
      data: {
        step,
        title,
        about,
        here: stats?.steps[key]?.active ?? 0,
        isFaulty: faulty.has(key),
        isOpen: key === selected,
        isMarked: marking.keys.has(key),
        paths: shownPaths(step, meta.steps)
          .map((path) => ({ path, to: targetOf(graph, { from: key, path }) }))
          // From left to right as the steps that they lead to, so that ways do not cross.
          .toSorted((a, b) => xOf(a.to) - xOf(b.to))
          .map(({ path, to }) => ({ path, isOpen: to === undefined })),
        isRoot: isRoot(step),
        mayWrite,
        onAdd: (path: string) => onAdd({ from: key, path }),
      },
    }
  })
}

function edgesOf({ editing, stats, selected, onAdd, picture: { ways } }: Omit<Drawn, 'faulty' | 'marking'>): Edge<WayData>[] {
  const { graph, mayWrite } = editing
  return waysOf(graph)
    .filter(({ to }) => to in graph)
    .map(({ from, path, to }) => ({
      id: wayId(from, path),
      type: 'way',
      source: from,
      target: to,
      sourceHandle: path,
      selected: from === selected || to === selected,
      data: {
        path,
        // The ends are where the dots of the steps are.
        line: (start: Point, end: Point) => lineThrough([start, ...(ways.get(wayId(from, path))?.points.slice(1, -1) ?? []), end]),
        label: ways.get(wayId(from, path))?.label ?? { x: 0, y: 0 },
        users: stats?.edges.find((edge) => edge.from === from && edge.path === path && edge.to === to)?.users,
        mayWrite,
        onAdd: () => onAdd({ from, path }),
      },
    }))
}
