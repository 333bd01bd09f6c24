import { keywords } from './keyword.ts'

export const zh = keywords({
  stop: ['退订', '取消', '取消订阅', '停止', '停', '不要再发', '別再發', '退訂', '取消訂閱', 'td', 't'],
  start: ['订阅', '訂閱', '开始', '開始', '恢复', '恢復', '是'],
  help: ['帮助', '幫助', '说明', '說明'],
  polite: ['请', '請', '谢谢', '謝謝', '麻烦', '麻煩'],
  replies: {
    stopped: '您已退订 {brand}，将不再收到短信。回复 START 可重新订阅。',
    started: '您将再次收到 {brand} 的短信。回复 STOP 可退订。',
    help: '{brand}：回复 STOP 停止接收短信，回复 START 重新接收。',
  },
})
