import { keywords } from './keyword.ts'

export const nl = keywords({
  stop: ['stoppen', 'afmelden', 'uitschrijven', 'opzeggen', 'annuleren', 'einde'],
  start: ['starten', 'aanmelden', 'inschrijven', 'hervatten', 'ja'],
  help: ['hulp', 'informatie'],
  polite: ['alstublieft', 'aub', 'graag', 'bedankt', 'dank u'],
  replies: {
    stopped: 'U bent afgemeld bij {brand} en krijgt geen sms meer. Antwoord START om u weer aan te melden.',
    started: 'U krijgt weer sms van {brand}. Antwoord STOP om u af te melden.',
    help: '{brand}: antwoord STOP om geen sms meer te krijgen, of START om ze weer te krijgen.',
  },
})
