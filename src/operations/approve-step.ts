import { defineJudgement } from './judge-step.ts'

/** Says yes to a step that waits for it; once as many people have as are needed, the run goes on. */
export const approveStep = defineJudgement(
  'approveStep',
  'Approve what a step waits for',
  'approved',
)
