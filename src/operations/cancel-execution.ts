import { controlInput, defineControl } from './control-execution.ts'

/**
 * Ends an execution as cancelled, before its next step: at once when nobody works on it. The step that is under way is
 * let finish and recorded first, so an execution whose last step that was ends as the step leaves it.
 */
export const cancelExecution = defineControl('cancelExecution', 'cancel', {
  summary: 'Stop an execution before its next step',
  action: 'execution.cancel_requested',
  input: controlInput,
  goesOn: () => true,
})
