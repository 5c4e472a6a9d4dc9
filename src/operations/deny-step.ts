import { defineJudgement } from './judge-step.ts'

/** Says no to a step that waits for a yes; what follows is for its playbook to say. */
export const denyStep = defineJudgement('denyStep', 'Deny what a step waits for', 'denied')
