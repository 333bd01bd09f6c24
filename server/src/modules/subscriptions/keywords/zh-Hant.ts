import { keywords } from './keyword.ts'
import { zh } from './zh.ts'

export const zhHant = keywords({
  ...zh,
  replies: {
    stopped: '您已取消訂閱 {brand}，將不再收到簡訊。回覆 START 可重新訂閱。',
    started: '您將再次收到 {brand} 的簡訊。回覆 STOP 可取消訂閱。',
    help: '{brand}：回覆 STOP 停止接收簡訊，回覆 START 重新接收。',
  },
})
