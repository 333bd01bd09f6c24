import type { Autosave } from '../../../parts/autosave.ts'
import type { Draft } from '../draft.ts'
import type { Campaign } from '../search.ts'

/** What each step of the wizard gets. */
export type StepProps = { campaign: Campaign; autosave: Autosave<Draft> }
