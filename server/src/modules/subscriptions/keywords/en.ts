import { keywords } from './keyword.ts'

export const en = keywords({
  stop: [
    'stop',
    'stop all',
    'stopall',
    'unsubscribe',
    'cancel',
    'end',
    'quit',
    'opt out',
    'optout',
    'opt-out',
    'revoke',
    'remove',
    'remove me',
  ],
  start: ['start', 'unstop', 'yes', 'subscribe', 'resume', 'opt in', 'optin', 'opt-in'],
  help: ['help', 'info'],
  replies: {
    stopped: 'You are unsubscribed from {brand} and will get no more text messages. Reply START to subscribe again.',
    started: 'You are subscribed to text messages from {brand} again. Reply STOP to unsubscribe.',
    help: '{brand}: reply STOP to unsubscribe from text messages, START to subscribe again.',
  },
})
