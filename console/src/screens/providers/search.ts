import type { components } from '@carillon/sdk'
import type { FieldSchema } from '../../parts/schema-fields.ts'

export type Provider = components['schemas']['Provider']
export type Kind = Omit<components['schemas']['ProviderMeta'], 'settings'> & { settings: FieldSchema }

export const PROVIDERS = '/api/client/providers'
export const PROVIDER = '/api/client/providers/{providerId}'
export const KINDS = '/api/client/providers/meta'
