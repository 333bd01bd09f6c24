import { keywords } from './keyword.ts'

export const es = keywords({
  stop: ['alto', 'parar', 'pare', 'basta', 'baja', 'darme de baja', 'cancelar', 'detener', 'fin', 'salir'],
  start: ['alta', 'iniciar', 'empezar', 'comenzar', 'reanudar', 'volver', 'sí'],
  help: ['ayuda', 'información'],
  polite: ['por favor', 'gracias'],
  replies: {
    stopped: 'Se ha dado de baja de {brand} y no recibirá más SMS. Responda START para volver a recibirlos.',
    started: 'Vuelve a recibir los SMS de {brand}. Responda STOP para darse de baja.',
    help: '{brand}: responda STOP para no recibir más SMS o START para volver a recibirlos.',
  },
})
