/** The types of the client in `sdk`, made from the description of the API. */
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'

const HEAD = '/** Printed from `server/openapi.json` by `npm run print`. Do not edit. */\n\n'

// A member with a default may be left out.
const OPTIONS = { silent: true, defaultNonNullable: false }

/** The text of `sdk/src/api.ts`. */
export async function clientTypes(description: string): Promise<string> {
  return `${HEAD}${astToString(await openapiTS(JSON.parse(description) as OpenAPI3, OPTIONS))}`
}
