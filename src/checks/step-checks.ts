import type { Step } from '../domain/step.ts'
import type { DefinitionCheck } from './check.ts'

/** Checks what a step says of itself, whatever comes before it. */
export function checkSteps(check: DefinitionCheck): void {
  const kinds = ['ask', 'approval', 'call', 'wait', 'forEach', 'poll', 'repeat'] as const
  for (const { step, path } of check.table.values()) {
    for (const kind of kinds) {
      if (!(kind in step)) continue
      const message = `'${kind}' can be written but not run by this version of the service; a draft may keep it`
      check.add('kind-unavailable', [...path, kind], message)
    }
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
