import { type Icon, IconAppWindow, IconBell, IconMail, IconMessage, IconWebhook } from '@tabler/icons-react'
import type { Channel } from './channels.ts'

export const CHANNEL_ICONS: Record<Channel, Icon> = {
  email: IconMail,
  text: IconMessage,
  push: IconBell,
  webhook: IconWebhook,
  in_app: IconAppWindow,
}
