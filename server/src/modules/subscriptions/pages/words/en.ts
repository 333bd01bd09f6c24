import { words } from './words.ts'

export const en = words({
  unsubscribe: {
    title: 'Unsubscribe',
    heading: 'Unsubscribe from “{type}”?',
    explain: '{brand} will send you no more messages of this kind. Other messages are not affected.',
    button: 'Unsubscribe',
    done_heading: 'You are unsubscribed',
    done: '{brand} will no longer send you “{type}”. A message that is already on its way may still arrive.',
    transactional_heading: 'These messages are part of a service that you use',
    transactional: '“{type}” is sent because of something you ordered, use or asked for, so you cannot unsubscribe from it alone.',
  },
  preferences: {
    link: 'Choose what {brand} may send you',
    title: 'What may we send you?',
    explain: 'Choose the messages that you want from {brand}.',
    awaiting: 'Waiting for your confirmation',
    save: 'Save',
    none: 'There are no messages to choose from at the moment.',
    always_heading: 'Always sent',
    always: 'These messages are about something you ordered, use or asked for:',
    all_heading: 'Unsubscribe from everything',
    all: '{brand} will send you no more emails or text messages, not even about your orders or your account. You can come back here to subscribe again.',
    all_button: 'Unsubscribe from everything',
    saved: 'Your choices have been saved.',
    saved_confirm: 'Your choices have been saved. Check your messages for a confirmation link.',
    saved_all: 'You are unsubscribed from everything.',
  },
  confirm: {
    title: 'Confirm',
    heading: 'Do you want “{type}”?',
    explain: 'Confirm that {brand} may send you messages of this kind. You can unsubscribe at any time.',
    button: 'Yes, subscribe me',
    done_heading: 'Thank you, you are subscribed',
    done: 'From now on, {brand} will send you “{type}”.',
  },
  expired: { heading: 'This link has expired', text: 'It was valid for 30 days. Subscribe again to get a new one.' },
  removed: { heading: 'You will get no more messages', text: 'We no longer have your details, so we cannot send you any more messages.' },
  invalid: {
    heading: 'This link does not work',
    text: 'Part of the link may be missing. Open it again from the message that contains it.',
  },
})
