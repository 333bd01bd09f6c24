import type { Campaign } from '../../search.ts'
import type { ChannelEditor } from './channel.ts'
import { email } from './email.tsx'
import { inApp } from './in-app.tsx'
import { push } from './push.tsx'
import { text } from './text.tsx'
import { webhook } from './webhook.tsx'

/** The channels, by their names in the API. */
export const channels: Record<Campaign['channel'], ChannelEditor> = { email, text, push, in_app: inApp, webhook }
