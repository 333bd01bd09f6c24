import { keywords } from './keyword.ts'

export const pl = keywords({
  stop: ['zatrzymaj', 'wypisz', 'wypisz mnie', 'wypisuję się', 'rezygnuję', 'rezygnacja', 'anuluj', 'koniec', 'usuń', 'dość'],
  start: ['zacznij', 'wznów', 'zapisz', 'zapisz mnie', 'tak'],
  help: ['pomoc', 'informacja', 'informacje'],
  polite: ['proszę', 'prosze', 'dziękuję', 'dziekuje', 'dzięki'],
  replies: {
    stopped: 'Subskrypcja SMS-ów od {brand} została anulowana i więcej ich nie wyślemy. Odpowiedz START, aby ją wznowić.',
    started: 'Znów będziesz otrzymywać SMS-y od {brand}. Odpowiedz STOP, aby zrezygnować.',
    help: '{brand}: odpowiedz STOP, aby nie otrzymywać SMS-ów, lub START, aby je wznowić.',
  },
})
