/** How requests name a template: by its locale in the path, and its variant. */
import { Type } from 'typebox'
import { fault } from '../../lib/errors.ts'
import { isLocale, normaliseLocale } from '../../lib/locales.ts'
import { Exact } from '../../lib/shapes.ts'
import { VariantName } from '../templates/index.ts'

const LOCALE_LENGTH_MAX = 255
export const templateLocale = {
  schema: Type.String({ minLength: 1, maxLength: LOCALE_LENGTH_MAX, description: 'A BCP 47 language tag.' }),
  read(text: string, name: string): string {
    if (text.length <= LOCALE_LENGTH_MAX && isLocale(text)) return normaliseLocale(text)
    throw fault('parameter_invalid_format', name, `The path parameter \`${name}\` must be a language tag such as \`en-AU\`.`)
  },
}

export const templateQuery = Exact({ variant: Type.Optional(VariantName) })
