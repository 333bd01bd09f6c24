import { keywords } from './keyword.ts'

export const de = keywords({
  stop: ['stopp', 'abmelden', 'abbestellen', 'austragen', 'abmeldung', 'kündigen', 'ende', 'aufhören'],
  start: ['anmelden', 'weiter', 'ja', 'starten', 'wieder anmelden'],
  help: ['hilfe', 'information', 'infos'],
  polite: ['bitte', 'danke'],
  replies: {
    stopped: 'Sie sind bei {brand} abgemeldet und erhalten keine SMS mehr. Mit START melden Sie sich wieder an.',
    started: 'Sie erhalten wieder SMS von {brand}. Mit STOP melden Sie sich ab.',
    help: '{brand}: Antworten Sie STOP, um keine SMS mehr zu erhalten, oder START, um wieder welche zu erhalten.',
  },
})
