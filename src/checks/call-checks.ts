import type { Type } from '../domain/expression.ts'
import type { CallStep } from '../domain/step.ts'
import type { DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import { typeOfInput } from './step-types.ts'

/** Levels of calls below a run that was started; DESIGN's limit, which the executor holds as well. */
const maxLevels = 8

/** Checks what a step calls, besides the arguments, and gives the type of these. */
export function checkCall(check: DefinitionCheck, step: CallStep, path: Path): Type | undefined {
  const at = [...path, 'call']
  const { key } = check.definition
  if (step.call === key) {
    check.add('call-cycle', at, `${key} calls itself, without end; take the call away`)
    return undefined
  }
  const found = check.findProcedure(step.call)
  if (found === 'none') {
    const message = `${step.call} has no active version that could be called; activate one first, or correct the key`
    check.add('call-unknown', at, message)
    return undefined
  }
  if (found === 'unknown') {
    const message = `${step.call} is not among what was given, so nothing of the call was checked; give it as well, or save the draft, which is checked against the active versions`
    check.add('call-unchecked', at, message)
    return undefined
  }
  const { cycle, levels } = follow(check, step.call)
  if (cycle !== undefined) {
    const message = `${[key, ...cycle].join(' calls ')}, without end; take one of the calls away`
    check.add('call-cycle', at, message)
  } else if (levels > maxLevels) {
    const message = `the calls below this go ${levels} levels deep; ${maxLevels} are allowed, make the chain shorter`
    check.add('call-depth', at, message)
  }
  return typeOfInput(found.input)
}

/** Follows calls from a procedure on: the first way back to the definition, or else how deep they go. */
function follow(
  check: DefinitionCheck,
  start: string,
): { readonly cycle?: readonly string[]; readonly levels: number } {
  const levelsOf = new Map<string, number>()
  let cycle: readonly string[] | undefined
  const visit = (key: string, way: readonly string[]): number => {
    const here = [...way, key]
    if (key === check.definition.key || way.includes(key)) {
      cycle ??= here
      return 0
    }
    const known = levelsOf.get(key)
    if (known !== undefined) return known
    const found = check.findProcedure(key)
    const below = typeof found === 'object' ? found.calls.map((call) => visit(call, here)) : []
    const levels = 1 + Math.max(0, ...below)
    levelsOf.set(key, levels)
    return levels
  }
  const levels = visit(start, [])
  return cycle === undefined ? { levels } : { cycle, levels }
}
