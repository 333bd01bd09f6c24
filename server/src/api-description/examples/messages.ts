/** Messages: the sandbox, the in-app inbox and the sending policy. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { OPENED, SENT } from './times.ts'

const inbox = {
  id: 88301,
  campaign_id: 9,
  type: 'inbox',
  title: 'Your order is on its way',
  body: 'It arrives tomorrow.',
  html: null,
  image: null,
  action_url: 'https://shop.example.com/orders/5512',
  created_at: SENT,
  expires_at: null,
  seen_at: null,
  read_at: null,
  clicked_at: null,
  archived_at: null,
}

const sandbox = {
  id: 88214,
  channel: 'email',
  campaign_id: 7,
  user_id: 1042,
  recipient: 'kim@example.com',
  summary: 'Spring sale: 20% off',
  created_at: SENT,
}

export const messageExamples = {
  SandboxMessage: sandbox,
  SandboxMessageReply: {
    ...sandbox,
    external_id: 'customer-1042',
    content: {
      to: 'kim@example.com',
      subject: 'Spring sale: 20% off',
      html: '<p>Hello Kim</p><p><a href="https://shop.example.com/sale">See the sale</a></p>',
      text: 'Hello Kim\n\nSee the sale (https://shop.example.com/sale)',
    },
  },
  SendingPolicyReply: {
    caps: [{ channels: ['email'], max: 3, window_hours: 168 }],
    quiet_hours: { channels: ['text', 'push'], from: '21:00', to: '08:00' },
  },
  OwnUserMessage: inbox,
  OwnUserMessageChanges: { read: true },
  OwnUserMessageReadAllReply: { changed: 3, unread: 0 },
  OwnUserMessageUnreadCountReply: { unread: 3 },
}

export const messageOperations: Words['operations'] = {
  updateOwnUserMessage: { reply: { ...inbox, seen_at: OPENED, read_at: OPENED } },
  getOwnUserMessageStream: {
    reply: `id: 41\nevent: unread\ndata: {"unread":1}\n\nid: 42\nevent: message\ndata: ${JSON.stringify(inbox)}\n\n`,
  },
}
