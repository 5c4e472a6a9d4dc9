import { defineControl } from './control-execution.ts'

/**
 * Ends an execution as cancelled, before its next step: at once when nobody works on it. A write that is under way is
 * let finish and recorded first.
 */
export const cancelExecution = defineControl('cancelExecution', 'cancel', {
  summary: 'Stop an execution before its next step',
  action: 'execution.cancel_requested',
  goesOn: true,
})
