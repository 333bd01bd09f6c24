/** Secrets in the headers of webhook steps, which are not shown and not kept in the browser. Pure. */
import type { Graph, Step } from './graph.ts'

/** What the server shows for a secret that it has, and takes for it in the same journey. */
const HIDDEN = '********'

type Headers = Record<string, unknown>

const isSecret = (value: unknown): boolean => typeof value === 'object' && value !== null && 'secret' in value

function withHeaders(graph: Graph, map: (headers: Headers) => Headers): Graph {
  const changed = (step: Step): Step => {
    const { headers } = step.data
    const hasSecret = typeof headers === 'object' && headers !== null && Object.values(headers).some(isSecret)
    return hasSecret ? { ...step, data: { ...step.data, headers: map(headers as Headers) } } : step
  }
  return Object.fromEntries(Object.entries(graph).map(([key, step]) => [key, changed(step)]))
}

/** The steps with the placeholder in place of each secret. */
export const hideSecrets = (graph: Graph): Graph =>
  withHeaders(graph, (headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecret(value) ? { secret: HIDDEN } : value])),
  )

/** The steps without the headers that are secret. */
export const dropSecrets = (graph: Graph): Graph =>
  withHeaders(graph, (headers) => Object.fromEntries(Object.entries(headers).filter(([, value]) => !isSecret(value))))
