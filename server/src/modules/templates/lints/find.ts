import * as registry from './index.ts'
import { type Found, type Lint, type Linted, SEVERITIES } from './lint.ts'

type Kind = keyof typeof registry
export type Finding = Found & { kind: Kind; severity: Lint['severity'] }

const lints = Object.entries(registry) as [Kind, Lint][]

/** The kinds of findings. */
export const LINT_KINDS = lints.map(([kind]) => kind)

const FINDINGS_MAX = 100

/** The findings in a template, the most severe first. Their order does not depend on that of the members, which is lost when a template is saved. */
export function findingsIn(template: Linted, without: readonly Kind[] = []): Finding[] {
  return lints
    .filter(([kind, { channels }]) => channels.includes(template.channel) && !without.includes(kind))
    .flatMap(([kind, { severity, find }]) =>
      find(template)
        .sort(byParam)
        .map((found) => ({ kind, severity, ...found })),
    )
    .sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity))
    .slice(0, FINDINGS_MAX)
}

const byParam = (one: Found, other: Found): number => (one.param < other.param ? -1 : one.param > other.param ? 1 : 0)
