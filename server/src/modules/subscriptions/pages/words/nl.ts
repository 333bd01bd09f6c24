import { words } from './words.ts'

export const nl = words({
  unsubscribe: {
    title: 'Afmelden',
    heading: 'Afmelden voor ‘{type}’?',
    explain: '{brand} stuurt u dan geen berichten van dit soort meer. Aan andere berichten verandert niets.',
    button: 'Afmelden',
    done_heading: 'U bent afgemeld',
    done: '{brand} stuurt u geen ‘{type}’ meer. Een bericht dat al onderweg is, kan nog aankomen.',
    transactional_heading: 'Deze berichten horen bij iets waar u om hebt gevraagd',
    transactional: 'U krijgt ‘{type}’ vanwege een bestelling, een account of een aanvraag. Afzonderlijk afmelden kan niet.',
  },
  preferences: {
    link: 'Kies wat {brand} u mag sturen',
    title: 'Wat mogen we u sturen?',
    explain: 'Kies welke berichten u van {brand} wilt krijgen.',
    awaiting: 'Wacht op uw bevestiging',
    save: 'Opslaan',
    none: 'Er valt op dit moment niets te kiezen.',
    always_heading: 'Wordt altijd gestuurd',
    always: 'Deze berichten horen bij een bestelling, een account of een aanvraag van u:',
    all_heading: 'Voor alles afmelden',
    all: '{brand} stuurt u dan niets meer per e-mail en sms, ook niet over uw bestellingen of uw account. U kunt hier terugkomen en u weer aanmelden.',
    all_button: 'Voor alles afmelden',
    saved: 'Uw keuze is opgeslagen.',
    saved_confirm: 'Uw keuze is opgeslagen. Een deel moet u nog bevestigen: let op een bericht met een link.',
    saved_all: 'U bent voor alles afgemeld.',
  },
  confirm: {
    title: 'Bevestigen',
    heading: 'Wilt u ‘{type}’ ontvangen?',
    explain: 'Bevestig dat {brand} u zulke berichten mag sturen. U kunt zich altijd weer afmelden.',
    button: 'Ja, meld mij aan',
    done_heading: 'Bedankt, u bent aangemeld',
    done: '{brand} stuurt u vanaf nu ‘{type}’.',
  },
  expired: { heading: 'Deze link is verlopen', text: 'Hij was 30 dagen geldig. Meld u opnieuw aan om een nieuwe te krijgen.' },
  removed: { heading: 'Er wordt niets meer gestuurd', text: 'We hebben uw gegevens niet meer, dus u krijgt geen berichten meer.' },
  invalid: {
    heading: 'Deze link werkt niet',
    text: 'Misschien ontbreekt er een deel. Open hem opnieuw vanuit het bericht waarin hij stond.',
  },
})
