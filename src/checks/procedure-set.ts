import type { Definition } from '../domain/definition.ts'
import { anyType } from '../domain/expression.ts'
import { walkSteps } from '../domain/step.ts'
import type { CalledProcedure, FindProcedure } from './called-procedure.ts'
import { interfaceOf } from './check-definition.ts'
import type { FindContract } from './step-types.ts'

/**
 * Makes the definitions of procedures known to those that call them, by key. What is not among them is `absent`: `none`
 * where these are all that there are.
 */
export function procedureSet(
  definitions: Iterable<Definition>,
  findContract: FindContract,
  absent: 'none' | 'unknown',
): FindProcedure {
  const byKey = new Map(Array.from(definitions, (definition) => [definition.key, definition]))
  const known = new Map<string, CalledProcedure>()
  const find: FindProcedure = (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const definition = byKey.get(key)
    if (definition === undefined) return absent
    // Procedures that call each other in a circle meet what is known without a look inside.
    known.set(key, outlineOf(definition))
    const whole = interfaceOf(definition, findContract, find)
    known.set(key, whole)
    return whole
  }
  return find
}

function outlineOf(definition: Definition): CalledProcedure {
  const calls = [...walkSteps(definition.steps)].flatMap((step) =>
    'call' in step ? [step.call] : [],
  )
  return { input: definition.input, output: anyType, mayDecline: true, calls }
}
