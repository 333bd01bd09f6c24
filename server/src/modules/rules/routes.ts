import { route } from '../../infra/http/route.ts'
import { RuleMeta, ruleMeta } from './meta.ts'

export const ruleRoutes = [
  route({
    method: 'GET',
    path: '/api/client/rules/meta',
    summary: 'Describe the parts of rules, for editors.',
    description:
      'Lists the groups, kinds of condition, attributes and operators of rules. Each has a label, and an example with a ' +
      'description in words. Those that have members or an argument also have a JSON Schema. The reply is the same for all projects and changes only with the version of the ' +
      'server.\n\n' +
      'The server also checks what the schemas cannot express. See each `description`. A comparison has exactly one operator. The attribute ' +
      'decides which operators it accepts, and the argument of `is`, `is_not`, `one_of` and `not_one_of` must have the type of the attribute. ' +
      'Ids must exist in the project. `POST /api/client/lists/preview` checks a rule without saving it.',
    access: { secret: 'support' },
    translated: true,
    reply: RuleMeta,
    run: async ({ language }) => ruleMeta(language),
  }),
]
