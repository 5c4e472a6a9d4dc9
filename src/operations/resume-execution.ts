import { findStoppingSwitch, lockSwitches } from '../db/queries/kill-switches.ts'
import { ServiceError } from '../domain/errors.ts'
import { stoppedBy } from '../domain/kill-switch.ts'
import { controlInput, defineControl } from './control-execution.ts'
import { detach } from './shapes.ts'

/**
 * Lets a paused execution go on: in this process, to its end or its next wait, or with `detach` in a worker. One that is
 * still to be paused, before its next step, is not then. While a switch stops its procedure or a tool of it, none is.
 */
export const resumeExecution = defineControl('resumeExecution', 'resume', {
  summary: 'Let a paused execution go on',
  action: 'execution.resumed',
  input: controlInput.extend({ detach }),
  refuses: {
    codes: ['EXECUTION_NOT_PAUSED', 'EXECUTION_HELD'],
    async when(transaction, execution, { db }) {
      const { id, status, pauseRequested } = execution
      if (status !== 'paused' && !pauseRequested) {
        return new ServiceError('EXECUTION_NOT_PAUSED', { executionId: id, status })
      }
      // One that is engaged in this moment would not look at an execution that is paused still.
      await lockSwitches(transaction, db.tenantId, 'share')
      const { procedureKey, toolContracts } = execution
      const run = { procedureKey, toolContracts }
      const found = await findStoppingSwitch(transaction, db.tenantId, run)
      return (
        found && new ServiceError('EXECUTION_HELD', { executionId: id, stopped: stoppedBy(found) })
      )
    },
  },
  goesOn: (request) => !request.detach,
})
