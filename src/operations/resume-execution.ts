import { defineControl } from './control-execution.ts'

/** Lets a paused execution go on: in this process, to its end or its next wait. */
export const resumeExecution = defineControl('resumeExecution', 'resume', {
  summary: 'Let a paused execution go on',
  action: 'execution.resumed',
  goesOn: true,
})
