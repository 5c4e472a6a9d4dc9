import { controlInput, defineControl } from './control-execution.ts'
import { detach } from './shapes.ts'

/** Lets a paused execution go on: in this process, to its end or its next wait, or with `detach` in a worker. */
export const resumeExecution = defineControl('resumeExecution', 'resume', {
  summary: 'Let a paused execution go on',
  action: 'execution.resumed',
  input: controlInput.extend({ detach }),
  goesOn: (request) => !request.detach,
})
