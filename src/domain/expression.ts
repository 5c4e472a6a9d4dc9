import { ServiceError } from './errors.ts'
import { compile, Evaluation, type Run } from './expression/compile.ts'
import { parse } from './expression/parse.ts'
import { collectReads, proofsOf, type Read, scopePaths } from './expression/reads.ts'
import { toJson } from './expression/result.ts'
import type { Path, Scope } from './expression/scope.ts'
import { type Node, positionOf } from './expression/syntax.ts'
import { Fault } from './expression/value.ts'
import type { Json } from './json.ts'
import type { Problem } from './problem.ts'

export { checkExpression } from './expression/check.ts'
export { isGuarded, type Read } from './expression/reads.ts'
export { findingRules } from './expression/report.ts'
export type { Path, Scope, StepwiseScope } from './expression/scope.ts'
export { type ScopeTypes, stepType } from './expression/scope-types.ts'
export { addWorkdays, type Calendar, defaultCalendar, findInstant } from './expression/time.ts'
export {
  anyType,
  booleanType,
  fits,
  listType,
  numberType,
  objectType,
  stringType,
  type Type,
  typeOfSchema,
  typeOfValue,
  typeWords,
} from './expression/type.ts'

/** What an expression reads, known before it runs. */
export interface Reads {
  readonly paths: readonly Read[]
  /** Keys of all steps that are read, in whatever way. */
  readonly steps: ReadonlySet<string>
  readonly now: boolean
  readonly item: boolean
  readonly index: boolean
  /** True when the output of the step itself is read, as in `expect`. */
  readonly output: boolean
}

/** An expression that was parsed and compiled, once. docs/expressions.md describes the language. */
export interface Expression {
  readonly source: string
  readonly reads: Reads
  /** Paths that exist and are not null when the expression gave true: a condition guards what comes after it. */
  readonly proves: readonly Path[]
  readonly node: Node
  /**
   * The value for a scope: JSON with keys in ascending order, timestamps as RFC 3339 text. The same scope always gives
   * the same value, in whatever order its keys stand.
   *
   * @throws ExpressionFailed and nothing else, as long as the scope is canonical JSON.
   */
  evaluate(scope: Scope): Json
}

/** An expression that could not be evaluated. The message is for support agents, and holds no value of the run. */
export class ExpressionFailed extends Error {
  override readonly name = 'ExpressionFailed'
  readonly source: string
  /** What went wrong, without the source. */
  readonly reason: string
  /** 1-based position in the source. */
  readonly line: number
  readonly column: number

  constructor(source: string, reason: string, at: number) {
    const { line, column } = positionOf(source, at)
    const shown = source.length > 120 ? `${source.slice(0, 117).toWellFormed()}…` : source
    super(`${reason} (in '${shown}', line ${line}, column ${column})`)
    this.source = source
    this.reason = reason
    this.line = line
    this.column = column
  }
}

/** Parses an expression, or gives all problems of it with line and column, and an empty path. */
export function parseExpression(
  source: string,
): { readonly expression: Expression } | { readonly problems: readonly Problem[] } {
  const node = parse(source)
  return 'kind' in node ? { expression: new Compiled(source, node) } : { problems: node }
}

/**
 * Compiles the expression of a definition that has been checked.
 *
 * @throws ServiceError `EXPRESSION_INVALID` with all problems.
 */
export function compileExpression(source: string): Expression {
  const parsed = parseExpression(source)
  if ('expression' in parsed) return parsed.expression
  throw new ServiceError('EXPRESSION_INVALID', { source, problems: parsed.problems })
}

class Compiled implements Expression {
  readonly source: string
  readonly node: Node
  readonly reads: Reads
  readonly proves: readonly Path[]
  readonly #run: Run

  constructor(source: string, node: Node) {
    this.source = source
    this.node = node
    this.#run = compile(node)
    const paths = collectReads(node)
    const roots = new Set(paths.map(({ path: [root] }) => root))
    this.reads = {
      paths,
      steps: new Set(
        paths.flatMap(({ path: [root, key] }) => (root === 'steps' ? [`${key}`] : [])),
      ),
      now: roots.has('now'),
      item: roots.has('item'),
      index: roots.has('index'),
      output: roots.has('output'),
    }
    this.proves = scopePaths(proofsOf(node, true))
  }

  evaluate(scope: Scope): Json {
    try {
      return toJson(this.#run(new Evaluation(scope)))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      throw new ExpressionFailed(this.source, error.message, error.at ?? 0)
    }
  }
}
