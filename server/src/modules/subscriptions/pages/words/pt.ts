import { words } from './words.ts'

export const pt = words({
  unsubscribe: {
    title: 'Cancelar a inscrição',
    heading: 'Cancelar a inscrição em “{type}”?',
    explain: '{brand} não enviará mais mensagens deste tipo. Nada muda nas outras mensagens.',
    button: 'Cancelar a inscrição',
    done_heading: 'A inscrição foi cancelada',
    done: '{brand} não enviará mais “{type}”. Uma mensagem que já esteja a caminho ainda pode chegar.',
    transactional_heading: 'Estas mensagens fazem parte do que você pediu',
    transactional:
      '“{type}” é enviado por causa de um pedido, de uma conta ou de uma solicitação sua e não pode ser cancelado em separado.',
  },
  preferences: {
    link: 'Escolher o que {brand} pode enviar',
    title: 'O que podemos enviar?',
    explain: 'Escolha as mensagens que deseja receber de {brand}.',
    awaiting: 'À espera da sua confirmação',
    save: 'Salvar',
    none: 'Não há nada para escolher no momento.',
    always_heading: 'Sempre enviadas',
    always: 'Fazem parte de um pedido, de uma conta ou de uma solicitação sua:',
    all_heading: 'Cancelar todas as inscrições',
    all: '{brand} não enviará mais nada por e-mail nem por SMS, nem mesmo sobre os seus pedidos ou a sua conta. Você pode voltar aqui e se inscrever de novo.',
    all_button: 'Cancelar todas as inscrições',
    saved: 'A sua escolha foi salva.',
    saved_confirm: 'A sua escolha foi salva. Parte dela precisa da sua confirmação: aguarde uma mensagem com um link.',
    saved_all: 'Todas as suas inscrições foram canceladas.',
  },
  confirm: {
    title: 'Confirmar',
    heading: 'Deseja receber “{type}”?',
    explain: 'Confirme que {brand} pode enviar mensagens deste tipo. Você pode cancelar quando quiser.',
    button: 'Sim, quero receber',
    done_heading: 'Obrigado, a inscrição está confirmada',
    done: 'A partir de agora, {brand} enviará “{type}”.',
  },
  expired: { heading: 'Este link expirou', text: 'Ele valia por 30 dias. Inscreva-se de novo para receber outro.' },
  removed: { heading: 'Nada mais será enviado', text: 'Não temos mais os seus dados, por isso você não receberá mais mensagens.' },
  invalid: { heading: 'Este link não funciona', text: 'Talvez esteja incompleto. Abra-o de novo a partir da mensagem em que ele veio.' },
})
