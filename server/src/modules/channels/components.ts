/** The schemas of providers in the API description, one for each kind. */
import { type TSchema, Type } from 'typebox'
import { componentRef, Exact, Nullable, OneOf } from '../../lib/shapes.ts'
import { PROVIDER_NAMES, type ProviderName, providers } from './registry.ts'
import { ProviderInput } from './schema.ts'

type Setting = TSchema & { title?: string; description?: string }

/** The settings of a kind, each described at least by its title. */
function settingsOf(name: ProviderName): [string, Setting][] {
  const { properties } = providers[name].settings as unknown as { properties: Record<string, Setting> }
  return Object.entries(properties).map(([member, { title, ...schema }]) => [
    member,
    { description: title ?? member, ...schema } as Setting,
  ])
}

const componentOf = (name: ProviderName) =>
  name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

function inputOf(name: ProviderName): TSchema {
  const { label, channels, settings } = providers[name]
  const members = Object.fromEntries(settingsOf(name))
  const { segment_price, ...given } = ProviderInput.properties
  return Exact(
    {
      ...given,
      ...(channels.includes('text') && { segment_price }),
      kind: OneOf([name], { description: 'The kind of provider.' }),
      channel: OneOf([...channels], { description: 'The channel of the messages.' }),
      settings: Type.Unsafe({ ...settings, properties: members, description: 'The settings. Secrets are encrypted and never shown.' }),
    },
    { description: label },
  )
}

const changesOf = (name: ProviderName): TSchema =>
  Exact(Object.fromEntries(settingsOf(name).map(([member, schema]) => [member, Type.Optional(Nullable(schema))])), {
    description: `Settings to change for a provider of the kind \`${name}\`; null removes a setting.`,
  })

/** By the names of components. */
export const providerComponents: Record<string, TSchema> = {
  ProviderInput: Type.Unsafe({
    description: 'A provider of the kind given in `kind`.',
    documented: { oneOf: PROVIDER_NAMES.map((name) => componentRef(`${componentOf(name)}ProviderInput`)) },
  }),
  ProviderSettingsChanges: Type.Unsafe({
    description: 'The settings to change. Others stay unchanged, so secrets need not be sent again. Null removes a setting.',
    documented: { anyOf: PROVIDER_NAMES.map((name) => componentRef(`${componentOf(name)}SettingsChanges`)) },
  }),
  ...Object.fromEntries(PROVIDER_NAMES.map((name) => [`${componentOf(name)}ProviderInput`, inputOf(name)])),
  ...Object.fromEntries(PROVIDER_NAMES.map((name) => [`${componentOf(name)}SettingsChanges`, changesOf(name)])),
}
