import type { Definition } from './definition.ts'
import {
  booleanType,
  checkExpression,
  type Expression,
  parseExpression,
  type ScopeTypes,
  type Type,
  typeOfSchema,
  typeOfValue,
} from './expression.ts'
import type { Json, JsonSchema } from './json.ts'
import { type Problem, pathText } from './problem.ts'
import { checkReply } from './reply-check.ts'
import type { Condition } from './step.ts'
import { checkSteps } from './step-checks.ts'
import { checkTemplate, parseTemplate } from './template.ts'
import type { ToolContract } from './tool.ts'

/** What the checks have to say of a definition. Errors keep it from going live; warnings are shown. */
export interface Finding extends Problem {
  /** Stable, in kebab case; each is described in docs/checks.md. */
  readonly rule: string
  readonly severity: 'error' | 'warning'
}

/** The contract of a tool that may be used now, or undefined. */
export type FindContract = (name: string) => ToolContract | undefined

type Path = readonly (string | number)[]

/**
 * Checks a definition against the tools, without running anything. Findings come in the order of the document; the
 * same definition and tools always give the same ones.
 */
export function checkDefinition(
  definition: Definition,
  findContract: FindContract,
): readonly Finding[] {
  const check = new DefinitionCheck(definition, findContract)
  return check.all()
}

/** Gathers findings, and knows what expressions at a place may read. */
export class DefinitionCheck {
  readonly definition: Definition
  readonly findContract: FindContract
  readonly findings: Finding[] = []
  /** Type of `steps.KEY`, for every step of the definition. */
  readonly stepTypes: Record<string, Type> = {}
  readonly #readPolicy = new Set<string>()

  constructor(definition: Definition, findContract: FindContract) {
    this.definition = definition
    this.findContract = findContract
  }

  all(): readonly Finding[] {
    const { definition } = this
    this.#routing()
    this.#examples()
    checkSteps(this)
    this.#conditions(definition.preconditions ?? [], ['preconditions'])
    this.#conditions(definition.completionConditions ?? [], ['completionConditions'])
    this.#conditions(definition.escalationRules ?? [], ['escalationRules'])
    if (definition.completionConditions === undefined) {
      this.add('no-completion-condition', 'warning', ['completionConditions'], noCompletion)
    }
    for (const [name, source] of Object.entries(definition.output ?? {})) {
      this.expression(source, ['output', name])
    }
    for (const [outcome, text] of Object.entries(definition.replies ?? {})) {
      // A reply that cannot be filled in gives way to the default wording, so what may be absent is no fault here.
      this.template(text, ['replies', outcome], undefined, ['unguarded-value'])
      checkReply(this, outcome, text)
    }
    this.#policy()
    return this.findings
  }

  add(
    rule: string,
    severity: Finding['severity'],
    path: Path,
    message: string,
    position?: { readonly line?: number; readonly column?: number },
  ): void {
    this.findings.push({ rule, severity, path: pathText(path), message, ...position })
  }

  /** Parses and type-checks an expression; undefined when it cannot be parsed. */
  expression(
    source: string,
    path: Path,
    options: { readonly expected?: Type; readonly output?: Type } = {},
  ): { readonly expression: Expression; readonly type: Type } | undefined {
    const parsed = parseExpression(source)
    if ('problems' in parsed) {
      for (const { message, line, column } of parsed.problems) {
        this.add('expression-syntax', 'error', path, message, at(line, column))
      }
      return undefined
    }
    const { expression } = parsed
    const types = this.#types(options.output)
    const { type, findings } = checkExpression(expression, types, options.expected)
    for (const { rule, severity, message, line, column } of findings) {
      this.add(rule, severity, path, message, at(line, column))
    }
    for (const read of expression.reads.paths) this.#notePolicy(read.path)
    return { expression, type }
  }

  condition(source: string, path: Path, output?: Type): Expression | undefined {
    const options = { expected: booleanType, ...(output !== undefined && { output }) }
    return this.expression(source, path, options)?.expression
  }

  /** Parses and type-checks a template, and answers the keys of the steps that it reads. */
  template(
    value: Json,
    path: Path,
    expected?: Type,
    ignored: readonly string[] = [],
  ): ReadonlySet<string> {
    const parsed = parseTemplate(value)
    const placed = (problem: Problem): string =>
      problem.path === '' ? pathText(path) : joined(pathText(path), problem.path)
    if ('problems' in parsed) {
      for (const problem of parsed.problems) {
        const { message, line, column } = problem
        const finding = { rule: 'template-syntax', severity: 'error', message } as const
        this.findings.push({ ...finding, path: placed(problem), ...at(line, column) })
      }
      return new Set()
    }
    const { template } = parsed
    for (const finding of checkTemplate(template, this.#types(), expected).findings) {
      if (!ignored.includes(finding.rule)) this.findings.push({ ...finding, path: placed(finding) })
    }
    for (const read of template.reads) this.#notePolicy(read.path)
    return template.steps
  }

  #types(output?: Type): ScopeTypes {
    const { input, policy } = this.definition
    return {
      input: input === undefined ? objectOfAnything : typeOfInput(input),
      policy: typeOfValue(policy ?? {}),
      steps: this.stepTypes,
      ...(output !== undefined && { output }),
    }
  }

  #routing(): void {
    const { issuePatterns = [], internal } = this.definition
    if (internal !== true && issuePatterns.length < minPatterns) {
      const message = `${issuePatterns.length} patterns; with at least ${minPatterns} in customers' words search finds the playbook far more often`
      this.add('few-patterns', 'warning', ['issuePatterns'], message)
    }
  }

  /** Examples that are not for the playbook, by a text that it claims itself. */
  #examples(): void {
    const { issuePatterns = [], examples = {} } = this.definition
    const matching = new Set((examples.match ?? []).map(folded))
    // Shorter ones are not looked for word for word.
    const patterns = issuePatterns.filter((pattern) => [...folded(pattern)].length >= 4)
    for (const [index, example] of (examples.noMatch ?? []).entries()) {
      const text = folded(example)
      const pattern = patterns.find((one) => text.includes(folded(one)))
      const claim = matching.has(text)
        ? 'stands under examples.match as well'
        : pattern !== undefined && `holds the issue pattern '${pattern}' word for word`
      if (claim === false) continue
      const message = `an example of what this is not for ${claim}; take one of the two away`
      this.add('example-contradicted', 'warning', ['examples', 'noMatch', index], message)
    }
  }

  #conditions(conditions: readonly Condition[], path: Path): void {
    for (const [index, { text, when, say }] of conditions.entries()) {
      if (when === undefined) this.prose([...path, index], text)
      else this.condition(when, [...path, index, 'when'])
      if (say !== undefined) this.template(say, [...path, index, 'say'])
    }
  }

  prose(path: Path, text: string): void {
    this.add('prose-only', 'warning', path, `'${text}' has no 'when': it is shown and not enforced`)
  }

  #policy(): void {
    for (const name of Object.keys(this.definition.policy ?? {})) {
      if (this.#readPolicy.has(name) || this.#readPolicy.has('')) continue
      const message = `nothing reads policy.${name}; use it or remove it`
      this.add('unused-policy', 'warning', ['policy', name], message)
    }
  }

  #notePolicy([root, name]: Path): void {
    // A read of `policy` as a whole reads every constant.
    if (root === 'policy') this.#readPolicy.add(String(name ?? ''))
  }
}

const minPatterns = 4

/** Case, white space around it and forms of one character make no other text. */
function folded(text: string): string {
  return text.trim().normalize('NFC').toLowerCase()
}

const noCompletion =
  'no completion condition: the run counts as resolved whenever its steps come to an end'
const objectOfAnything: Type = typeOfSchema({ type: 'object' })

/** A playbook that names its input reads no other: a name that it does not declare is a slip of the pen. */
function typeOfInput(input: JsonSchema): Type {
  const isClosed = input.properties !== undefined && input.additionalProperties === undefined
  return typeOfSchema(isClosed ? { ...input, additionalProperties: false } : input)
}

function at(line?: number, column?: number): { readonly line?: number; readonly column?: number } {
  return {
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  }
}

function joined(path: string, rest: string): string {
  return rest.startsWith('[') ? `${path}${rest}` : `${path}.${rest}`
}
