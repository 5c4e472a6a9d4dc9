import type { Definition } from '../domain/definition.ts'
import type { LinkPath } from '../domain/expression/reads.ts'
import { positionOf } from '../domain/expression/syntax.ts'
import { anyType } from '../domain/expression/type.ts'
import {
  booleanType,
  checkExpression,
  type Expression,
  parseExpression,
  type ScopeTypes,
  type Type,
  typeOfValue,
} from '../domain/expression.ts'
import type { Json } from '../domain/json.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import { checkTemplate, parseTemplate, type Template } from '../domain/template.ts'
import type { FindProcedure } from './called-procedure.ts'
import { type FlowGround, readNode, type Split, testNode } from './expression-flow.ts'
import { Findings, type Path, type Position } from './findings.ts'
import { Liveness } from './liveness.ts'
import { pathKey } from './node-key.ts'
import { ReadReport } from './read-report.ts'
import type { RuleId } from './rules.ts'
import { buildStepTable, type StepEntry, type StepTable } from './step-table.ts'
import { type FindContract, StepTypes, typeOfInput } from './step-types.ts'
import { domainOf, isNothing, type Tokens } from './tokens.ts'
import { WorldBudget } from './world-budget.ts'
import { statusBits, statusOf, type World } from './worlds.ts'

/** Where in a definition something is evaluated, and what is in scope there besides the rest. */
export interface Place {
  /** Steps at this place of the document and after it are not there to be read. */
  readonly before: number
  /** The steps with a `forEach` that it is a round of, innermost first. */
  readonly loops: readonly StepEntry[]
  /** The type of `item`. */
  readonly item?: Type
  /** The type of `output`, and the step that it belongs to. */
  readonly output?: Type
  readonly own?: string
}

/** The end of a run: every step may have been passed. */
export const atEnd: Place = { before: Number.POSITIVE_INFINITY, loops: [] }

/** What is known while one definition is checked: its steps, their types, and what was found. */
export class DefinitionCheck {
  readonly definition: Definition
  readonly findContract: FindContract
  readonly findProcedure: FindProcedure
  readonly findings = new Findings()
  readonly table: StepTable
  readonly types: StepTypes
  readonly liveness = new Liveness()
  readonly #budget: WorldBudget
  readonly #input: Type
  readonly #policy: Type
  readonly #expressions = new Map<string, ReturnType<typeof parseExpression>>()
  readonly #templates = new Map<string, ReturnType<typeof parseTemplate>>()
  readonly #domains = new Map<string, Tokens>()
  /** The paths that keys of values stand for. */
  readonly #paths = new Map<string, LinkPath>()
  readonly #readPaths: LinkPath[] = []
  /** The place of the document that the walk has come to: what is asked about before it no longer matters. */
  now = 0
  /** The type of what the run gives when it resolves; without `output` it is that of whatever completed last. */
  resultType: Type = anyType

  constructor(definition: Definition, findContract: FindContract, findProcedure: FindProcedure) {
    this.definition = definition
    this.findContract = findContract
    this.findProcedure = findProcedure
    this.table = buildStepTable(definition.steps)
    this.#budget = new WorldBudget(this.liveness, [...this.table.keys()])
    this.types = new StepTypes(definition.steps, findContract, findProcedure)
    this.#input = typeOfInput(definition.input)
    this.#policy = typeOfValue(definition.policy ?? {})
  }

  add(rule: RuleId, path: Path, message: string, position?: Position): void {
    this.findings.add(rule, path, message, position)
  }

  /** Whether so much was done that what is left can only be done in part. */
  get isExhausted(): boolean {
    return this.#budget.isExhausted
  }

  /** All paths that expressions and templates read, as far as they were checked. */
  get readPaths(): readonly LinkPath[] {
    return this.#readPaths
  }

  /** An expression at its path; undefined when it cannot be parsed. It is parsed once. */
  parsed(source: string, path: Path): Expression | undefined {
    const result = this.#parse(source, path)
    return 'expression' in result ? result.expression : undefined
  }

  parsedTemplate(value: Json, path: Path): Template | undefined {
    const result = this.#parseTemplate(value, path)
    return 'template' in result ? result.template : undefined
  }

  /** Checks a condition and splits the worlds by it. What cannot be understood may be either. */
  condition(source: string, path: Path, worlds: readonly World[], place: Place): Split {
    const { expression, isSound } = this.#check(source, path, worlds, place, booleanType)
    if (expression === undefined) return { yes: worlds, no: worlds }
    const split = testNode(expression.node, worlds, this.#ground(expression, path, worlds, place))
    return isSound ? split : { yes: worlds, no: worlds }
  }

  /** Splits worlds by a condition that is checked elsewhere. */
  split(expression: Expression, worlds: readonly World[], own?: string): Split {
    return testNode(expression.node, worlds, this.#silentGround(atEnd, own))
  }

  /** Checks an expression that gives a value, and infers its type. */
  value(source: string, path: Path, worlds: readonly World[], place: Place, expected?: Type): Type {
    const { expression, type } = this.#check(source, path, worlds, place, expected)
    if (expression === undefined) return anyType
    readNode(expression.node, worlds, this.#ground(expression, path, worlds, place))
    return type
  }

  /** Checks a template, and infers what it resolves to. Findings of `ignored` rules are left out. */
  template(
    value: Json,
    path: Path,
    worlds: readonly World[],
    place: Place,
    options: { readonly expected?: Type | undefined; readonly ignored?: readonly RuleId[] } = {},
  ): void {
    const parsed = this.#parseTemplate(value, path)
    const ignored = [...(options.ignored ?? []), ...(worlds.length === 0 ? deadRules : [])]
    if ('problems' in parsed) {
      this.#addProblems('template-syntax', path, parsed.problems)
      return
    }
    const { template } = parsed
    const guards = this.certainPaths(worlds)
    const { findings } = checkTemplate(template, this.#scope(place), options.expected, guards)
    for (const { rule, ...problem } of findings) {
      if (!ignored.includes(rule)) this.#addProblems(rule, path, [problem])
    }
    this.#readPaths.push(...template.reads.map((read) => read.path))
    if (ignored.includes('unguarded-step')) return
    new ReadReport(this, path, place).template(template, worlds)
  }

  /** The worlds without those that nothing tells apart any more, and no more than the work so far allows. */
  trim(worlds: readonly World[], from = this.now): readonly World[] {
    return this.#budget.join(worlds, from)
  }

  /** Paths that exist and are not null in all worlds, because conditions before asked for them. */
  certainPaths(worlds: readonly World[]): readonly LinkPath[] {
    const [first, ...others] = worlds
    if (first === undefined) return []
    const certain: LinkPath[] = []
    for (const key of first.values.keys()) {
      const path = this.#paths.get(key)
      const isCertain = (world: World): boolean =>
        world.values.get(key)?.every((token) => !isNothing(token)) === true
      if (path !== undefined && isCertain(first) && others.every(isCertain)) certain.push(path)
    }
    for (const [key, { place }] of this.table) {
      const hasFailed = (world: World): boolean => statusOf(world, place) === statusBits.failed
      if (worlds.every(hasFailed)) certain.push(['steps', key, 'error'])
    }
    return certain
  }

  domain(path: LinkPath, place: Place): Tokens {
    const key = pathKey(path)
    this.#paths.set(key, path)
    const known = this.#domains.get(key)
    if (known !== undefined && path[0] !== 'item') return known
    const found = domainOf(path, this.#scope(place))
    this.#domains.set(key, found)
    return found
  }

  #check(
    source: string,
    path: Path,
    worlds: readonly World[],
    place: Place,
    expected: Type | undefined,
  ): {
    readonly expression: Expression | undefined
    readonly type: Type
    readonly isSound: boolean
  } {
    const parsed = this.#parse(source, path)
    if ('problems' in parsed) {
      for (const { message, line, column } of parsed.problems) {
        this.add('expression-syntax', path, message, { line, column })
      }
      return { expression: undefined, type: anyType, isSound: false }
    }
    const { expression } = parsed
    const guards = this.certainPaths(worlds)
    const { type, findings } = checkExpression(expression, this.#scope(place), expected, guards)
    let isSound = true
    for (const { rule, severity, message, line, column } of findings) {
      if (severity === 'error') isSound = false
      if (worlds.length === 0 && deadRules.includes(rule)) continue
      this.add(rule, path, message, { line, column })
    }
    this.#readPaths.push(...expression.reads.paths.map((read) => read.path))
    return { expression, type, isSound }
  }

  #ground(expression: Expression, path: Path, worlds: readonly World[], place: Place): FlowGround {
    const report = new ReadReport(this, path, place)
    report.plainReads(expression, worlds)
    return {
      ...this.#silentGround(place, place.own),
      onRead: (node, read, reached) => {
        report.output(read, reached, positionOf(expression.source, node.at))
      },
      onFirstOf: (node, reached) => {
        report.firstOf(node.steps, reached, positionOf(expression.source, node.at))
      },
    }
  }

  #silentGround(place: Place, own: string | undefined): FlowGround {
    return {
      placeOf: (key) => this.table.get(key)?.place,
      domainOf: (path) => this.domain(path, place),
      isKept: (key, known) => this.#budget.isKept(key, known),
      trim: (worlds) => this.#budget.merge(worlds),
      spend: (count) => this.#budget.spend(count),
      ...(own !== undefined && { own }),
    }
  }

  #scope({ item, output }: Place): ScopeTypes {
    return {
      input: this.#input,
      policy: this.#policy,
      steps: this.types.all,
      ...(item !== undefined && { item }),
      ...(output !== undefined && { output }),
    }
  }

  #parse(source: string, path: Path): ReturnType<typeof parseExpression> {
    const key = pathText(path)
    const parsed = this.#expressions.get(key) ?? parseExpression(source)
    this.#expressions.set(key, parsed)
    return parsed
  }

  #parseTemplate(value: Json, path: Path): ReturnType<typeof parseTemplate> {
    const key = pathText(path)
    const parsed = this.#templates.get(key) ?? parseTemplate(value)
    this.#templates.set(key, parsed)
    return parsed
  }

  /** Problems whose paths lie within the value at a path. */
  #addProblems(rule: RuleId, path: Path, problems: readonly Problem[]): void {
    for (const { path: inner, message, line, column } of problems) {
      const position = line === undefined ? {} : { line, column }
      this.findings.add(rule, path, message, position, inner)
    }
  }
}

/** Where nothing can come to, nothing is read that was not asked for. */
const deadRules: readonly RuleId[] = ['unguarded-value', 'unguarded-step']
