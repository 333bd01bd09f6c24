import { keywords } from './keyword.ts'

export const pt = keywords({
  stop: ['parar', 'pare', 'sair', 'cancelar', 'cancele', 'remover', 'descadastrar', 'fim'],
  start: ['iniciar', 'começar', 'voltar', 'retomar', 'sim', 'assinar'],
  help: ['ajuda', 'informação', 'informações'],
  polite: ['por favor', 'obrigado', 'obrigada'],
  replies: {
    stopped: 'A sua inscrição em {brand} foi cancelada e não receberá mais SMS. Responda START para voltar a receber.',
    started: 'Voltou a receber os SMS de {brand}. Responda STOP para cancelar.',
    help: '{brand}: responda STOP para não receber mais SMS ou START para voltar a receber.',
  },
})
