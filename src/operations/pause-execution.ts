import { controlInput, defineControl } from './control-execution.ts'

/** Holds an execution before its next step until it is resumed; no timer wakes it meanwhile. */
export const pauseExecution = defineControl('pauseExecution', 'pause', {
  summary: 'Hold an execution before its next step, until it is resumed',
  action: 'execution.pause_requested',
  input: controlInput,
  goesOn: () => false,
})
