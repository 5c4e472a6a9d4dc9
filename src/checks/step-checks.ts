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
    for (const field of ['onError', 'onDeadline', 'onDenied']) {
      if (Object(step)[field] !== 'continue' || step.required === false) continue
      const message = "a required step cannot be passed over; say 'required: false' or escalate"
      check.add('continue-required', [...path, field], message)
    }
  }
}
