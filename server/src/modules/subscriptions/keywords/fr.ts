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
    'arrêtez les messages',
  ],
  start: ['démarrer', 'reprendre', 'oui', 'abonner', 'réabonner', 'commencer'],
  help: ['aide', 'information', 'infos'],
  polite: ['s’il vous plaît', 's’il te plaît', "s'il vous plait", 'svp', 'stp', 'merci'],
  replies: {
    stopped: 'Désabonnement de {brand} enregistré : vous ne recevrez plus de SMS. Répondez START pour vous réabonner.',
    started: 'Vous recevez de nouveau les SMS de {brand}. Répondez STOP pour vous désabonner.',
    help: '{brand} : répondez STOP pour ne plus recevoir de SMS, START pour en recevoir de nouveau.',
  },
})
