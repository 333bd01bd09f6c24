import type { LocalRecording } from '../../recording.ts'

export const mta: LocalRecording = { over: 'nothing', outcome: { is: 'accepted', delivered: false } }
