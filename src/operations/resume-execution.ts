import { ServiceError } from '../domain/errors.ts'
import { controlInput, defineControl } from './control-execution.ts'
import { detach } from './shapes.ts'

/**
 * Lets a paused execution go on: in this process, to its end or its next wait, or with `detach` in a worker. One that is
 * still to be paused, before its next step, is not then.
 */
export const resumeExecution = defineControl('resumeExecution', 'resume', {
  summary: 'Let a paused execution go on',
  action: 'execution.resumed',
  input: controlInput.extend({ detach }),
  refuses: {
    code: 'EXECUTION_NOT_PAUSED',
    when: ({ id, status, pauseRequested }) =>
      status === 'paused' || pauseRequested
        ? undefined
        : new ServiceError('EXECUTION_NOT_PAUSED', { executionId: id, status }),
  },
  goesOn: (request) => !request.detach,
})
