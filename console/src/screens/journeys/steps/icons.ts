import {
  type Icon,
  IconArrowsSplit,
  IconBolt,
  IconClock,
  IconDoorExit,
  IconFlask,
  IconGauge,
  IconHourglass,
  IconListDetails,
  IconLogin,
  IconPencil,
  IconRoute,
  IconSend,
  IconStack2,
  IconToggleLeft,
  IconWebhook,
} from '@tabler/icons-react'

type Tone = 'act' | 'wait' | 'good' | 'info' | ''

/** The picture of each kind of step. A kind that is not here has that of a step. */
const ICONS: Record<string, [Icon, Tone]> = {
  entrance: [IconLogin, 'act'],
  exit: [IconDoorExit, ''],
  delay: [IconClock, 'wait'],
  wait_until: [IconHourglass, 'wait'],
  balancer: [IconGauge, 'wait'],
  gate: [IconArrowsSplit, ''],
  experiment: [IconFlask, 'info'],
  action: [IconSend, 'good'],
  webhook: [IconWebhook, 'info'],
  update: [IconPencil, ''],
  event: [IconBolt, ''],
  list: [IconListDetails, ''],
  subscription: [IconToggleLeft, ''],
  link: [IconRoute, ''],
}

export const iconOf = (type: string): [Icon, Tone] => ICONS[type] ?? [IconStack2, '']
