import { words } from './words.ts'

export const de = words({
  unsubscribe: {
    title: 'Abmelden',
    heading: '„{type}“ abbestellen?',
    explain: '{brand} schickt Ihnen dann keine Nachrichten dieser Art mehr. An anderen Nachrichten ändert sich nichts.',
    button: 'Abbestellen',
    done_heading: 'Sie sind abgemeldet',
    done: '{brand} schickt Ihnen „{type}“ nicht mehr. Eine Nachricht, die schon unterwegs ist, kann Sie noch erreichen.',
    transactional_heading: 'Diese Nachrichten gehören zu etwas, das Sie angefordert haben',
    transactional:
      '„{type}“ erhalten Sie wegen einer Bestellung, eines Kontos oder einer Anfrage. Einzeln abbestellen lässt sich das nicht.',
  },
  preferences: {
    link: 'Auswählen, was {brand} Ihnen schicken darf',
    title: 'Was dürfen wir Ihnen schicken?',
    explain: 'Wählen Sie aus, welche Nachrichten Sie von {brand} möchten.',
    awaiting: 'Wartet auf Ihre Bestätigung',
    save: 'Speichern',
    none: 'Im Moment gibt es nichts auszuwählen.',
    always_heading: 'Wird immer gesendet',
    always: 'Diese Nachrichten gehören zu einer Bestellung, einem Konto oder einer Anfrage von Ihnen:',
    all_heading: 'Alles abbestellen',
    all: '{brand} schickt Ihnen dann nur noch Nachrichten zu Bestellungen, zu Ihrem Konto oder zu Anfragen von Ihnen. Sie können sich hier jederzeit wieder anmelden.',
    all_button: 'Alles abbestellen',
    stop_heading: 'Jede Nachricht stoppen',
    stop: '{brand} schickt Ihnen dann nichts mehr per E-Mail und SMS, auch nicht zu Ihren Bestellungen oder Ihrem Konto. Sie können sich hier jederzeit wieder anmelden.',
    stop_button: 'Jede Nachricht stoppen',
    saved: 'Ihre Auswahl ist gespeichert.',
    saved_confirm: 'Ihre Auswahl ist gespeichert. Manches müssen Sie noch bestätigen: Achten Sie auf eine Nachricht mit einem Link.',
    saved_all: 'Sie haben alles abbestellt.',
    saved_stop: 'Sie bekommen keine Nachrichten mehr.',
  },
  confirm: {
    title: 'Bestätigen',
    heading: 'Möchten Sie „{type}“ erhalten?',
    explain: 'Bestätigen Sie, dass {brand} Ihnen solche Nachrichten schicken darf. Abbestellen können Sie sie jederzeit.',
    button: 'Ja, ich möchte sie erhalten',
    done_heading: 'Danke, Sie sind angemeldet',
    done: '{brand} schickt Ihnen ab jetzt „{type}“.',
  },
  expired: { heading: 'Dieser Link ist abgelaufen', text: 'Er galt 30 Tage. Melden Sie sich noch einmal an, um einen neuen zu erhalten.' },
  removed: {
    heading: 'Sie erhalten keine Nachrichten mehr',
    text: 'Wir haben Ihre Daten nicht mehr und können Ihnen deshalb keine Nachrichten mehr senden.',
  },
  invalid: {
    heading: 'Dieser Link funktioniert nicht',
    text: 'Vielleicht fehlt ein Teil davon. Öffnen Sie ihn noch einmal aus der Nachricht, in der er stand.',
  },
  test: 'Das ist eine Testnachricht. Auf dieser Seite wird nichts gespeichert.',
})
