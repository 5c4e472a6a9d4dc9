import type { Step } from '../domain/step.ts'
import type { DefinitionCheck } from './check.ts'

/** Checks what a step says of itself, whatever comes before it. */
export function checkSteps(check: DefinitionCheck): void {
  for (const { step, path } of check.table.values()) {
    for (const at of continuing(step)) {
      if (step.required === false) continue
      const message = "a required step cannot be passed over; say 'required: false' or escalate"
      check.add('continue-required', [...path, ...at], message)
    }
  }
}

/** Where a step says that the run goes on without it. */
function continuing(step: Step): readonly (readonly string[])[] {
  const places = [
    ['onError'],
    ['onDeadline'],
    ['onDenied'],
    ['poll', 'otherwise'],
    ['repeat', 'otherwise'],
  ]
  return places.filter(
    (links) => links.reduce<unknown>((value, link) => Object(value)[link], step) === 'continue',
  )
}
