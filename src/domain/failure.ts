/**
 * What sort of failure a step ended with, for a playbook that goes on after it: `refused`: a tool or a person said no;
 * `failed`: the tool certainly did not do it; `timeout`: no answer came in time; `unknown`: the tool broke down without
 * a word; `invalid`: it answered what cannot be recorded; `unmet`: it answered, and what was to hold then does not.
 */
export const failureKinds = ['refused', 'failed', 'timeout', 'unknown', 'invalid', 'unmet'] as const

export type FailureKind = (typeof failureKinds)[number]

/** The codes of the failures that a run can go on after, and what sort each is unless the step says otherwise. */
const kindOfCode = {
  tool_failed: 'failed',
  tool_timeout: 'timeout',
  output_invalid: 'invalid',
  output_too_large: 'invalid',
  expectation_failed: 'unmet',
  loop_exhausted: 'unmet',
  deadline_passed: 'timeout',
  approval_denied: 'refused',
} as const satisfies { readonly [code: string]: FailureKind }

/** Codes that an expression can meet in `steps.KEY.error.code`: every other failure ends the run. */
export const readableCodes: readonly string[] = Object.keys(kindOfCode)

export function failureKindOf(code: string): FailureKind {
  return isReadable(code) ? kindOfCode[code] : 'failed'
}

function isReadable(code: string): code is keyof typeof kindOfCode {
  return Object.hasOwn(kindOfCode, code)
}
