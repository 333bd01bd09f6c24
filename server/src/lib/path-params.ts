import { Type } from 'typebox'
import { fault, missing } from './errors.ts'
import { VERSION_MAX } from './shapes.ts'
import { lengthOf } from './text.ts'

/** An integer id in the path (D-HTTP-4). A number above `max` is read as 0, so the reply is 404 as for any unknown id. */
export const pathId = <I extends number>(max = Number.MAX_SAFE_INTEGER) => ({
  schema: Type.Integer({ minimum: 1 }),
  read(text: string, name: string): I {
    if (!/^\d+$/.test(text)) throw fault('parameter_invalid_format', name, `The path parameter \`${name}\` must be an integer.`)
    const id = Number(text)
    return (id <= max ? id : 0) as I
  },
})

/** The number of a version in the path. */
export const pathVersion = pathId<number>(VERSION_MAX)

const EXTERNAL_ID_LENGTH_MAX = 255

const RESERVED = 'After `/api/client/users/`, the words `batch`, `erasures`, `me` and `search` are reserved.'

/** A user's `external_id` in the path, percent-decoded once. */
export const pathUser = {
  schema: Type.String({
    minLength: 1,
    maxLength: EXTERNAL_ID_LENGTH_MAX,
    description: `The \`external_id\` of the user, percent-encoded. ${RESERVED}`,
  }),
  read(text: string): string {
    if (text === '' || lengthOf(text) > EXTERNAL_ID_LENGTH_MAX || text.includes('\0')) throw missing('user')
    return text.toWellFormed()
  },
}

/** A user in the path, of a route that keys of organisations can call too. */
export const pathUserOrId = {
  ...pathUser,
  schema: Type.String({
    minLength: 1,
    maxLength: EXTERNAL_ID_LENGTH_MAX,
    description: `With a secret key, the \`external_id\` of the user, percent-encoded. ${RESERVED} With an organisation key, the numeric \`id\`.`,
  }),
}

/** The name of an attribute in the path. */
export const pathAttribute = {
  schema: Type.String({ minLength: 1, maxLength: 255, description: 'A key of `data`.' }),
  read(text: string, name: string): string {
    if (text !== '' && lengthOf(text) <= 255 && !text.includes('\0')) return text.toWellFormed()
    throw fault(
      'parameter_invalid_format',
      name,
      `The path parameter \`${name}\` must have 1 to 255 characters and must not contain U+0000.`,
    )
  },
}
