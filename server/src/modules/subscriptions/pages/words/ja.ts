import { words } from './words.ts'

export const ja = words({
  unsubscribe: {
    title: '配信停止',
    heading: '「{type}」の配信を停止しますか？',
    explain: '{brand}からこの種類のメッセージが届かなくなります。ほかのメッセージには影響しません。',
    button: '配信を停止する',
    done_heading: '配信を停止しました',
    done: '{brand}から「{type}」は届かなくなります。すでに送信中のメッセージは届くことがあります。',
    transactional_heading: 'ご依頼に伴うお知らせです',
    transactional: '「{type}」は、ご注文やアカウント、お問い合わせに関するお知らせのため、個別に停止することはできません。',
  },
  preferences: {
    link: '{brand}からの配信内容を選ぶ',
    title: '配信設定',
    explain: '{brand}から受け取るメッセージをお選びください。',
    awaiting: '確認待ち',
    save: '保存する',
    none: '現在、選択できる項目はありません。',
    always_heading: '必ずお送りするもの',
    always: 'ご注文やアカウント、お問い合わせに関するお知らせです。',
    all_heading: 'すべて停止する',
    all: '{brand}からのメールとSMSは、ご注文やアカウントに関するものも含めて一切届かなくなります。このページからいつでも再開できます。',
    all_button: 'すべての配信を停止する',
    saved: '設定を保存しました。',
    saved_confirm: '設定を保存しました。一部は確認が必要です。リンク付きのメッセージをお待ちください。',
    saved_all: 'すべての配信を停止しました。',
  },
  confirm: {
    title: '登録の確認',
    heading: '「{type}」を受け取りますか？',
    explain: '{brand}がこの種類のメッセージをお送りすることをご確認ください。いつでも配信を停止できます。',
    button: '受け取る',
    done_heading: 'ご登録ありがとうございます',
    done: '今後、{brand}から「{type}」をお届けします。',
  },
  expired: { heading: 'リンクの有効期限が切れています', text: '有効期間は30日です。新しいリンクを受け取るには、もう一度ご登録ください。' },
  removed: {
    heading: '今後メッセージは送信されません',
    text: 'お客様の情報はすでに削除されているため、メッセージが届くことはありません。',
  },
  invalid: {
    heading: 'このリンクは使用できません',
    text: 'リンクの一部が欠けている可能性があります。届いたメッセージからもう一度開いてください。',
  },
})
