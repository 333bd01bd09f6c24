import { keywords } from './keyword.ts'

export const fr = keywords({
  stop: [
    'arrêt',
    'arrêter',
    'arrêtez',
    'désabonner',
    'désabonnement',
    'me désabonner',
    'désinscrire',
    'désinscription',
    'annuler',
    'fin',
    'stop sms',
  ],
  start: ['démarrer', 'reprendre', 'oui', 'abonner', 'réabonner', 'commencer'],
  help: ['aide', 'information', 'infos'],
  replies: {
    stopped: 'Désabonnement de {brand} enregistré : vous ne recevrez plus de SMS. Répondez START pour vous réabonner.',
    started: 'Vous recevez de nouveau les SMS de {brand}. Répondez STOP pour vous désabonner.',
    help: '{brand} : répondez STOP pour ne plus recevoir de SMS, START pour en recevoir de nouveau.',
  },
})
