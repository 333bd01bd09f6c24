import type { LocalRecording } from '../../recording.ts'

export const sandbox: LocalRecording = { over: 'nothing', outcome: { is: 'accepted', delivered: true } }
