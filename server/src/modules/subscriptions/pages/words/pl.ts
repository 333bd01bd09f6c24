import { words } from './words.ts'

export const pl = words({
  unsubscribe: {
    title: 'Rezygnacja z subskrypcji',
    heading: 'Zrezygnować z „{type}”?',
    explain: '{brand} nie będzie już wysyłać wiadomości tego rodzaju. Pozostałe wiadomości się nie zmienią.',
    button: 'Zrezygnuj',
    done_heading: 'Subskrypcja została anulowana',
    done: '{brand} nie będzie już wysyłać „{type}”. Wiadomość, która jest już w drodze, może jeszcze dotrzeć.',
    transactional_heading: 'Te wiadomości są częścią świadczonej usługi',
    transactional: '„{type}” wysyłamy z powodu zamówienia, konta lub zapytania, dlatego nie można z nich zrezygnować osobno.',
  },
  preferences: {
    link: 'Wybór wiadomości, które może wysyłać {brand}',
    title: 'Co możemy wysyłać?',
    explain: 'Proszę wybrać wiadomości, które ma wysyłać {brand}.',
    awaiting: 'Czeka na potwierdzenie',
    save: 'Zapisz',
    none: 'W tej chwili nie ma wiadomości do wyboru.',
    always_heading: 'Wysyłane zawsze',
    always: 'Te wiadomości dotyczą zamówienia, konta lub zapytania:',
    all_heading: 'Rezygnacja ze wszystkiego',
    all: '{brand} nie będzie już wysyłać żadnych e-maili ani SMS-ów, nawet o zamówieniach lub koncie. Na tę stronę można wrócić, aby ponownie zasubskrybować wiadomości.',
    all_button: 'Zrezygnuj ze wszystkiego',
    saved: 'Wybór został zapisany.',
    saved_confirm: 'Wybór został zapisany. Część wymaga potwierdzenia: wyślemy wiadomość z linkiem.',
    saved_all: 'Wszystkie subskrypcje zostały anulowane.',
  },
  confirm: {
    title: 'Potwierdzenie',
    heading: 'Czy wysyłać „{type}”?',
    explain: 'Proszę potwierdzić, że {brand} może wysyłać wiadomości tego rodzaju. Zrezygnować można w każdej chwili.',
    button: 'Tak, subskrybuję',
    done_heading: 'Dziękujemy, subskrypcja jest potwierdzona',
    done: 'Od teraz {brand} będzie wysyłać „{type}”.',
  },
  expired: { heading: 'Ten link wygasł', text: 'Był ważny przez 30 dni. Aby otrzymać nowy, proszę zasubskrybować ponownie.' },
  removed: {
    heading: 'Nie będziemy wysyłać więcej wiadomości',
    text: 'Nie mamy już tych danych kontaktowych, dlatego nie możemy wysyłać wiadomości.',
  },
  invalid: {
    heading: 'Ten link nie działa',
    text: 'Być może brakuje jego części. Proszę otworzyć go ponownie z wiadomości, w której się znajdował.',
  },
})
