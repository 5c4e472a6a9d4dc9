import type { DefinitionCheck } from './checks.ts'
import {
  anyType,
  booleanType,
  numberType,
  objectType,
  stepType,
  stringType,
  type Type,
  typeOfSchema,
} from './expression.ts'
import { didYouMean } from './nearest-name.ts'
import type { Step, ToolStep } from './step.ts'

type Path = readonly (string | number)[]

const nullType: Type = { kind: 'null' }

/**
 * Checks every step in the order of the document: what it reads must come before it, what it calls must be there and
 * take what it is given.
 */
export function checkSteps(check: DefinitionCheck): void {
  const { steps } = check.definition
  // Every key exists from the start, whatever its output will be; types of outputs are filled in as they are met.
  declareKeys(check, steps)
  checkList(check, steps, ['steps'], { before: new Set(), tools: new Set() })
}

/** What is certain to have been passed before a step: keys in the order of the document, and the tools they call. */
interface Passed {
  readonly before: Set<string>
  readonly tools: Set<string>
}

function declareKeys(check: DefinitionCheck, steps: readonly Step[]): void {
  for (const step of steps) {
    check.stepTypes[step.key] = stepType(outputType(check, step))
    for (const { list } of innerLists(step)) declareKeys(check, list)
  }
}

function checkList(
  check: DefinitionCheck,
  steps: readonly Step[],
  path: Path,
  passed: Passed,
): void {
  for (const [index, step] of steps.entries()) {
    const at = [...path, index]
    const previous = steps[index - 1]
    if (previous !== undefined && 'end' in previous && previous.when === undefined) {
      check.add(
        'unreachable-step',
        'error',
        at,
        `the run always ends in '${previous.key}' before it`,
      )
    }
    checkStep(check, step, at, passed)
    passed.before.add(step.key)
    for (const inner of innerLists(step)) {
      checkList(check, inner.list, [...at, ...inner.path], passed)
    }
  }
}

function checkStep(check: DefinitionCheck, step: Step, at: Path, passed: Passed): void {
  const condition = (source: string, place: Path, output?: Type): void => {
    const expression = check.condition(source, [...at, ...place], output)
    noteLater(check, expression?.reads.steps, [...at, ...place], passed)
  }
  if (step.when !== undefined) condition(step.when, ['when'])
  if ('tool' in step) {
    checkTool(check, step, at, passed)
    if (step.expect !== undefined) condition(step.expect, ['expect'], toolOutput(check, step))
    passed.tools.add(step.tool)
  } else if ('compute' in step) {
    const values = Object.entries(step.compute).map(([name, source]) => {
      const place = [...at, 'compute', name]
      const checked = check.expression(source, place)
      noteLater(check, checked?.expression.reads.steps, place, passed)
      return [name, checked?.type ?? anyType] as const
    })
    check.stepTypes[step.key] = stepType(objectType(Object.fromEntries(values)))
  } else if ('require' in step) {
    for (const [index, { text, when, say }] of step.require.entries()) {
      if (when === undefined) check.prose([...at, 'require', index], text)
      else condition(when, ['require', index, 'when'])
      if (say !== undefined) check.template(say, [...at, 'require', index, 'say'])
    }
  } else if ('choose' in step) {
    const seen = new Set<string>()
    for (const [index, { text, when }] of step.choose.entries()) {
      condition(when, ['choose', index, 'when'])
      if (seen.has(text)) {
        const message = `'${text}' names two choices; the record tells them apart by their text`
        check.add('choice-repeated', 'error', [...at, 'choose', index, 'text'], message)
      }
      seen.add(text)
    }
  } else if ('end' in step && step.text !== undefined) {
    noteLater(check, check.template(step.text, [...at, 'text']), [...at, 'text'], passed)
  }
}

function checkTool(check: DefinitionCheck, step: ToolStep, at: Path, passed: Passed): void {
  const contract = check.findContract(step.tool)
  if (contract === undefined) {
    const message = `'${step.tool}' is not among the tools of this service; use one of them, or register it`
    check.add('tool-unknown', 'error', [...at, 'tool'], message)
  }
  const input = contract === undefined ? undefined : typeOfSchema(contract.input)
  const place = [...at, 'with']
  noteLater(check, check.template(step.with ?? {}, place, input), place, passed)
  for (const required of contract?.requires ?? []) {
    if (passed.tools.has(required)) continue
    const message = `'${step.tool}' may run only after '${required}'; put a step with that tool before it`
    check.add('tool-order', 'error', [...at, 'tool'], message)
  }
  const mayRepeat = contract === undefined || contract.effect === 'read' || contract.idempotent
  if (!mayRepeat && step.retry !== undefined) {
    const message = `'${step.tool}' writes and is not idempotent, so it is never retried; remove 'retry'`
    check.add('retry-not-idempotent', 'error', [...at, 'retry'], message)
  }
  if (step.onError === 'continue' && step.required !== false) {
    const message = "a required step cannot be passed over; say 'required: false' or escalate"
    check.add('continue-required', 'error', [...at, 'onError'], message)
  }
}

function noteLater(
  check: DefinitionCheck,
  reads: ReadonlySet<string> | undefined,
  path: Path,
  passed: Passed,
): void {
  for (const key of reads ?? []) {
    // A key that does not exist at all is reported by the type check.
    if (passed.before.has(key) || !Object.hasOwn(check.stepTypes, key)) continue
    const message = `steps.${key} comes later, or is this step itself, so there is nothing to read yet.${didYouMean(key, passed.before)}`
    check.add('later-step', 'error', path, message)
  }
}

function outputType(check: DefinitionCheck, step: Step): Type {
  if ('tool' in step) return toolOutput(check, step)
  if ('compute' in step) {
    return objectType(Object.fromEntries(Object.keys(step.compute).map((name) => [name, anyType])))
  }
  if ('require' in step) {
    return objectType({ met: booleanType, unmet: { kind: 'union', of: [numberType, nullType] } })
  }
  if ('choose' in step) {
    const texts: Type = { kind: 'string', values: step.choose.map(({ text }) => text) }
    return objectType({ chosen: { kind: 'union', of: [texts, nullType] } })
  }
  if ('ask' in step) return typeOfSchema(step.answer)
  if ('end' in step) return objectType({ text: { kind: 'union', of: [stringType, nullType] } })
  if ('steps' in step || 'wait' in step) return nullType
  return anyType
}

function toolOutput(check: DefinitionCheck, step: ToolStep): Type {
  const contract = check.findContract(step.tool)
  return contract === undefined ? anyType : typeOfSchema(contract.output)
}

function innerLists(
  step: Step,
): readonly { readonly list: readonly Step[]; readonly path: Path }[] {
  const lists: { list: readonly Step[]; path: Path }[] = []
  if ('choose' in step) {
    for (const [index, { steps }] of step.choose.entries()) {
      lists.push({ list: steps, path: ['choose', index, 'steps'] })
    }
  } else if ('steps' in step) lists.push({ list: step.steps, path: ['steps'] })
  if ('otherwise' in step && typeof step.otherwise === 'object') {
    lists.push({ list: step.otherwise, path: ['otherwise'] })
  }
  return lists
}
