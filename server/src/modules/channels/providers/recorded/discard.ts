import type { LocalRecording } from '../../recording.ts'

export const discard: LocalRecording = { over: 'nothing', outcome: { is: 'accepted', delivered: false } }
