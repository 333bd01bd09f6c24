import { keywords } from './keyword.ts'

export const ja = keywords({
  stop: ['停止', '配信停止', 'ストップ', '解除', '配信解除', '登録解除', '退会', '中止'],
  start: ['開始', '再開', '配信再開', 'スタート', '登録', 'はい'],
  help: ['ヘルプ', '案内', '情報'],
  polite: ['お願いします', 'してください', 'ください'],
  replies: {
    stopped: '{brand}からのSMSの配信を停止しました。再開するにはSTARTと返信してください。',
    started: '{brand}からのSMSの配信を再開しました。停止するにはSTOPと返信してください。',
    help: '{brand}：SMSの配信を停止するにはSTOP、再開するにはSTARTと返信してください。',
  },
})
