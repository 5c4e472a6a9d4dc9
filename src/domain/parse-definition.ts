import { canonicalValue } from './canonical.ts'
import type { Definition } from './definition.ts'
import { compact } from './definition-fields.ts'
import { definitionLimits, findLimitProblems } from './definition-limits.ts'
import { definitionShape } from './definition-shape.ts'
import { ServiceError } from './errors.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import { schemaProblems } from './json-schema.ts'
import { parseSteps, type Reading } from './parse-step.ts'
import type { Problem } from './problem.ts'
import { expectation, zodProblems } from './zod-problems.ts'

/** Problems beyond these are counted, not told. */
const maxProblems = 200

/** A definition in normal form, or everything that is wrong with the document. */
export type ParsedDefinition =
  | { readonly definition: Definition }
  | { readonly problems: readonly Problem[] }

/**
 * Reads a whole definition document and brings it into normal form: fields in the order of docs/language.md, without
 * `sequence` and without any field that equals its default; free-form values (`with`, schemas, `metadata`) in
 * canonical form. Reading a normal form gives the same normal form.
 *
 * Never throws for a bad document, whatever it is: all problems come back at once, each with its path. Expressions and
 * templates are kept as text, and tools are not looked up.
 */
export function parseDefinition(value: unknown): ParsedDefinition {
  const limits = findLimitProblems(value)
  if (!limits.walkable) return { problems: limits.problems }
  // With problems the raw value is read all the same, only to gather the rest of them.
  const source = limits.problems.length === 0 ? canonicalValue(value) : value
  const reading: Reading = { problems: [], keyPaths: new Map(), stepCount: 0 }
  if (!isJsonObject(source)) {
    const problem = { path: '', message: expectation(source, 'a definition, which is an object') }
    return { problems: limits.problems.length > 0 ? limits.problems : [problem] }
  }
  const fields = definitionShape.safeParse(source)
  if (!fields.success) reading.problems.push(...zodProblems(fields.error, source))
  reading.problems.push(...inputProblems(source))
  const steps = parseSteps(source.steps, ['steps'], reading)
  checkStepCount(reading)
  const limitPaths = new Set(limits.problems.map((problem) => problem.path))
  const problems = [
    ...limits.problems,
    ...reading.problems.filter((problem) => !limitPaths.has(problem.path)),
  ]
  if (problems.length > 0 || !fields.success) return { problems: firstOf(problems) }
  return { definition: compact({ ...fields.data, steps }) }
}

/**
 * Like `parseDefinition`, for callers that cannot go on with a bad document.
 *
 * @throws ServiceError `DEFINITION_INVALID` with every problem.
 */
export function requireDefinition(value: unknown): Definition {
  const parsed = parseDefinition(value)
  if ('problems' in parsed) {
    throw new ServiceError('DEFINITION_INVALID', { problems: parsed.problems })
  }
  return parsed.definition
}

/** A document that is no definition at all can have a problem in every value; nobody reads a hundred thousand. */
function firstOf(problems: readonly Problem[]): readonly Problem[] {
  const left = problems.length - maxProblems
  if (left <= 0) return problems
  return [...problems.slice(0, maxProblems), { path: '', message: `and ${left} more problems` }]
}

function inputProblems(source: JsonObject): readonly Problem[] {
  if (!isJsonObject(source.input)) return []
  const problems = schemaProblems(source.input, ['input'])
  if (source.input.type === 'object') return problems
  const message = expectation(
    source.input.type,
    'object: the input of a procedure has names; write type: object',
  )
  return [...problems, { path: 'input.type', message }]
}

function checkStepCount(reading: Reading): void {
  if (reading.stepCount <= definitionLimits.steps) return
  const message = `there are ${reading.stepCount} steps, nested ones included, and the limit is ${definitionLimits.steps}; split the procedure and use call`
  reading.problems.push({ path: 'steps', message })
}
