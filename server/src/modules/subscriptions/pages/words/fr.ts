import { words } from './words.ts'

export const fr = words({
  unsubscribe: {
    title: 'Se désabonner',
    heading: 'Vous désabonner de « {type} » ?',
    explain: '{brand} ne vous enverra plus de messages de ce type. Rien ne change pour les autres messages.',
    button: 'Me désabonner',
    done_heading: 'Votre désabonnement est enregistré',
    done: '{brand} ne vous enverra plus « {type} ». Un message déjà en route peut encore vous parvenir.',
    transactional_heading: 'Ces messages font partie de ce que vous avez demandé',
    transactional:
      '« {type} » vous est envoyé à la suite d’une commande, d’un compte ou d’une demande et ne peut pas être arrêté séparément.',
  },
  preferences: {
    link: 'Choisir ce que {brand} peut vous envoyer',
    title: 'Que pouvons-nous vous envoyer ?',
    explain: 'Choisissez les messages que vous souhaitez recevoir de {brand}.',
    awaiting: 'En attente de votre confirmation',
    save: 'Enregistrer',
    none: 'Il n’y a rien à choisir pour le moment.',
    always_heading: 'Toujours envoyés',
    always: 'Ces messages font partie d’une commande, d’un compte ou d’une demande de votre part :',
    all_heading: 'Me désabonner de tout',
    all: '{brand} ne vous écrira plus par e-mail ni par SMS, sauf au sujet d’une commande, d’un compte ou d’une demande de votre part. Vous pourrez revenir ici pour vous réabonner.',
    all_button: 'Me désabonner de tout',
    stop_heading: 'Arrêter tous les messages',
    stop: '{brand} ne vous enverra plus rien par e-mail ni par SMS, pas même au sujet de vos commandes ou de votre compte. Vous pourrez revenir ici pour vous réabonner.',
    stop_button: 'Arrêter tous les messages',
    saved: 'Votre choix est enregistré.',
    saved_confirm: 'Votre choix est enregistré. Une partie demande votre confirmation : guettez un message contenant un lien.',
    saved_all: 'Vous ne recevrez plus rien de notre part.',
    saved_stop: 'Vous ne recevrez plus aucun message.',
  },
  confirm: {
    title: 'Confirmer',
    heading: 'Souhaitez-vous recevoir « {type} » ?',
    explain: 'Confirmez que {brand} peut vous envoyer des messages de ce type. Vous pourrez vous désabonner à tout moment.',
    button: 'Oui, je m’abonne',
    done_heading: 'Merci, votre abonnement est confirmé',
    done: '{brand} vous enverra désormais « {type} ».',
  },
  expired: { heading: 'Ce lien a expiré', text: 'Il était valable 30 jours. Abonnez-vous de nouveau pour en recevoir un autre.' },
  removed: {
    heading: 'Vous ne recevrez plus de messages',
    text: 'Nous n’avons plus vos coordonnées et ne pouvons plus vous envoyer de messages.',
  },
  invalid: {
    heading: 'Ce lien ne fonctionne pas',
    text: 'Il est peut-être incomplet. Ouvrez-le de nouveau depuis le message où il se trouvait.',
  },
  test: 'Ceci est un message de test : rien n’est enregistré sur cette page.',
})
