/** Describes the settings of journeys and the kinds of step, for editors. */
import { type Static, Type } from 'typebox'
import { publicSchema } from '../../infra/http/openapi/schemas.ts'
import type { Language } from '../../lib/languages.ts'
import { Exact } from '../../lib/shapes.ts'
import { translated } from '../../lib/translated.ts'
import { german } from './german.ts'
import { JourneySettings } from './settings.ts'
import * as kinds from './steps/index.ts'
import type { Path, StepKind } from './steps/step.ts'

/** The settings and the kinds of step of journeys in API replies (D-JRN-3). */
export const JourneyMeta = Exact(
  {
    settings: Type.Unsafe<object>({ type: 'object', description: 'JSON Schema of the `settings` of a journey.' }),
    steps: Type.Record(
      Type.String(),
      Exact({
        label: Type.String({ description: 'The name for display.' }),
        also: Type.Array(Type.String(), { description: 'Other names that people search for.' }),
        description: Type.String({ description: 'What happens to a user at the step, in Markdown.' }),
        settings: Type.Unsafe<object>({ type: 'object', description: 'JSON Schema of the `data` of the step.' }),
        example: Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          description: 'A valid example of `data`. Its ids are made up.',
        }),
        sentence: Type.String({ description: 'The step with the settings of the example, in words.' }),
        paths: Type.Array(Type.String(), {
          description: 'The paths out of the example step. A child without `path` is on the path `default`.',
        }),
        named_paths: Type.Optional(
          Exact(
            {
              member: Type.String({ description: 'The member of `data` whose items name paths, in `path`.' }),
              others: Type.Array(Type.String(), { description: 'The paths that the step always has, in addition to the named ones.' }),
              none: Type.Array(Type.String(), { description: 'The paths that the step has while its settings name none.' }),
            },
            { description: 'Only for kinds of step whose settings can name further paths.' },
          ),
        ),
        waits: Type.Boolean({
          description: 'Whether users wait at the example step. A loop of steps must contain such a step.',
        }),
      }),
      { description: 'The kinds of step by `type`.' },
    ),
  },
  { title: 'JourneyMeta' },
)
export type JourneyMeta = Static<typeof JourneyMeta>

const namesOf = (paths: Path[]): string[] => paths.map(({ path }) => path)

/** The settings of journeys and the kinds of step, described in a language. Other names that people look for stay English. */
export const journeyMeta = (language: Language = 'en'): JourneyMeta => (language === 'en' ? inEnglish() : translated(inEnglish(), german))

const inEnglish = (): JourneyMeta => ({
  settings: publicSchema(JourneySettings),
  steps: Object.fromEntries(
    Object.entries<StepKind>(kinds).map(([type, { label, also, description, settings, example, sentence, paths, namesPaths, waits }]) => [
      type,
      {
        label,
        also,
        description,
        settings: publicSchema(settings),
        example,
        sentence,
        paths: namesOf(paths(example)),
        ...(namesPaths && { named_paths: { ...namesPaths, others: [...namesPaths.others], none: namesOf(paths({})) } }),
        waits: waits?.(example) ?? false,
      },
    ]),
  ),
})
