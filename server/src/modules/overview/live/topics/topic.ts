import type { ProjectCtx } from '../../../../infra/runtime/ctx.ts'

/** A kind of what can be watched: a state that is read for all who watch it. */
export type TopicKind = {
  /** What it is, for the API reference. */
  about: string
  /** Whether objects are watched, by their ids, or the project. */
  of: 'object' | 'project'
  /** The state of objects by id, or that of the project under 0. What is left out does not exist. Reads a bounded number of rows. */
  look(ctx: ProjectCtx, ids: number[]): Promise<ReadonlyMap<number, object>>
}

/** The state of the project, as the result of a look. */
export const ofProject = (state: object): ReadonlyMap<number, object> => new Map([[0, state]])
