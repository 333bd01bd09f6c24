import type { LocalRecording } from '../../recording.ts'

export const inbox: LocalRecording = { over: 'nothing', outcome: { is: 'accepted', delivered: true } }
