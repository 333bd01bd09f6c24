import { keywords } from './keyword.ts'

export const it = keywords({
  stop: ['ferma', 'fermare', 'basta', 'annulla', 'cancella', 'cancellami', 'disiscrivi', 'disiscrivimi', 'disdici', 'fine'],
  start: ['inizia', 'avvia', 'riattiva', 'riprendi', 'iscrivimi', 'sì'],
  help: ['aiuto', 'informazioni'],
  polite: ['per favore', 'per piacere', 'grazie'],
  replies: {
    stopped: 'La sua iscrizione a {brand} è annullata e non riceverà altri SMS. Risponda START per riceverli di nuovo.',
    started: 'Riceve di nuovo gli SMS di {brand}. Risponda STOP per annullare l’iscrizione.',
    help: '{brand}: risponda STOP per non ricevere altri SMS, START per riceverli di nuovo.',
  },
})
