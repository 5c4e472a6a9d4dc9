import type { Definition } from '../domain/definition.ts'
import type { Finding } from '../domain/finding.ts'
import { isJsonObject, type JsonSchema } from '../domain/json.ts'
import { noteAll } from './asked.ts'
import type { CalledProcedure, FindProcedure } from './called-procedure.ts'
import { atEnd, DefinitionCheck } from './check.ts'
import { checkEnds } from './condition-checks.ts'
import { checkGuards } from './guard-checks.ts'
import { checkReminder } from './person-checks.ts'
import { checkReplyText } from './reply-checks.ts'
import { checkRouting } from './routing-checks.ts'
import { checkSecrets } from './secret-checks.ts'
import { checkSteps } from './step-checks.ts'
import type { FindContract } from './step-types.ts'
import { Walk } from './walk.ts'

/**
 * Checks a definition against the tools and the procedures that it calls, without running anything. Findings come in the
 * order of the document, with line and column inside the text of an expression or template; the same definition, tools
 * and procedures always give the same ones. Without `findProcedure` nothing is said of calls.
 *
 * Takes time in proportion to the definition: what would take too long is left out, and the finding `too-complex` says so.
 */
export function checkDefinition(
  definition: Definition,
  findContract: FindContract,
  findProcedure: FindProcedure = () => 'unknown',
): readonly Finding[] {
  return walked(definition, findContract, findProcedure).findings.inOrder()
}

/** What those who call a version rely on. */
export function interfaceOf(
  definition: Definition,
  findContract: FindContract,
  findProcedure: FindProcedure = () => 'unknown',
): CalledProcedure {
  const check = walked(definition, findContract, findProcedure)
  const steps = [...check.table.values()].map(({ step }) => step)
  return {
    input: definition.input,
    output: check.resultType,
    mayDecline:
      (definition.preconditions ?? []).some(({ otherwise }) => otherwise === 'declined') ||
      steps.some(
        (step) =>
          ('end' in step && step.end === 'declined') ||
          ['otherwise', 'onError', 'onDeadline', 'onDenied'].some(
            (field) => Object(step)[field] === 'declined',
          ) ||
          ['poll', 'repeat'].some((field) => Object(step)[field]?.otherwise === 'declined'),
      ),
    calls: [...new Set(steps.flatMap((step) => ('call' in step ? [step.call] : [])))],
  }
}

function walked(
  definition: Definition,
  findContract: FindContract,
  findProcedure: FindProcedure,
): DefinitionCheck {
  const check = new DefinitionCheck(definition, findContract, findProcedure)
  noteAll(check)
  checkRouting(check)
  checkSteps(check)
  const walk = new Walk(check)
  walk.run()
  checkEnds(walk)
  checkGuards(check)
  checkSecrets(check)
  const { due, replies } = definition
  if (due !== undefined) checkReminder(check, ['due', 'warn'], due.warn, due.after)
  for (const [outcome, text] of Object.entries(replies ?? {})) {
    checkReplyText(check, text, ['replies', outcome], [], atEnd)
  }
  checkUnused(check)
  if (check.isExhausted) {
    const message =
      'there are so many conditions that not every way through them was looked at; split the playbook and use call'
    check.add('too-complex', ['steps'], message)
  }
  return check
}

/** Constants and required input that nothing reads: left behind, or meant to be read. */
function checkUnused(check: DefinitionCheck): void {
  const { policy, input } = check.definition
  const isRead = (root: string, name: string): boolean =>
    // A read of the root as a whole reads every member.
    check.readPaths.some((path) => path[0] === root && (path[1] === undefined || path[1] === name))
  for (const name of Object.keys(policy ?? {})) {
    if (isRead('policy', name)) continue
    const message = `nothing reads policy.${name}; use it or remove it`
    check.add('unused-policy', ['policy', name], message)
  }
  for (const name of requiredOf(input)) {
    if (isRead('input', name)) continue
    const message = `nothing reads input.${name}, and no run starts without it; use it, or require it no more`
    check.add('unused-input', ['input', 'properties', name], message)
  }
}

function requiredOf(input: JsonSchema | undefined): readonly string[] {
  const { required, properties } = input ?? {}
  if (!Array.isArray(required) || !isJsonObject(properties)) return []
  return required.filter((name): name is string => Object.hasOwn(properties, String(name)))
}
