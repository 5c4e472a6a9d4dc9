import type { Expression } from '../expression.ts'
import { checkComparison, checkMembership, checkOperandNulls } from './check-comparison.ts'
import { completed, isGuarded, itemProofs, type LinkPath, pathOf, proofsOf } from './reads.ts'
import { type Finding, Report } from './report.ts'
import { absentRoot } from './scope.ts'
import { hasOutputWhenCompleted, type ScopeTypes, typeOfRoot } from './scope-types.ts'
import { type MacroNode, type Node, placeWords } from './syntax.ts'
import {
  anyType,
  booleanType,
  fits,
  isNullable,
  jsonTypeOf,
  listType,
  literalType,
  membersOf,
  nullType,
  numberType,
  objectType,
  stringType,
  type Type,
  timestampType,
  typeWords,
  unionOf,
  withoutNull,
} from './type.ts'

/**
 * Infers the type of an expression and finds what cannot work, before anything runs. `expected` is what it must give:
 * `booleanType` for a condition, a list for `forEach`. `guards` are paths that exist and are not null by then, whatever
 * the expression itself asks. `type` is that of the JSON that `evaluate` gives. Findings stand in the order in which
 * parts are evaluated.
 */
export function checkExpression(
  expression: Expression,
  types: ScopeTypes,
  expected?: Type,
  guards: readonly LinkPath[] = [],
): { readonly type: Type; readonly findings: readonly Finding[] } {
  const report = new Report(expression.source)
  const checker = new Checker(report, types)
  const type = checker.infer(expression.node, guards)
  if (expected !== undefined) checker.expect(expression.node, type, expected, 'the expression')
  return { type: jsonTypeOf(type), findings: report.findings }
}

/** Infers the type of a chain of links that stands in a template. */
export function inferReference(
  node: Node,
  types: ScopeTypes,
  report: Report,
  needsValue: boolean,
  guards: readonly LinkPath[],
): Type {
  return new Checker(report, types).read(node, guards, needsValue)
}

type Guards = readonly LinkPath[]

class Checker {
  readonly #report: Report
  readonly #types: ScopeTypes
  readonly #variables: Type[] = []

  constructor(report: Report, types: ScopeTypes) {
    this.#report = report
    this.#types = types
  }

  infer(node: Node, guards: Guards): Type {
    switch (node.kind) {
      case 'literal':
        return literalType(node.value)
      case 'root':
      case 'variable':
      case 'member':
      case 'index':
        return this.read(node, guards, true)
      case 'list':
        return listType(unionOf(node.items.map((item) => this.infer(item, guards))))
      case 'object':
        return objectType(
          Object.fromEntries(node.fields.map(([name, part]) => [name, this.infer(part, guards)])),
        )
      case 'not':
        this.#inferAs(node.of, guards, booleanType, '!')
        return booleanType
      case 'negate':
        this.#inferAs(node.of, guards, numberType, '-')
        return numberType
      case 'and':
      case 'or': {
        const operator = node.kind === 'and' ? '&&' : '||'
        this.#inferAs(node.left, guards, booleanType, operator)
        const proofs = proofsOf(node.left, node.kind === 'and')
        this.#inferAs(node.right, [...guards, ...proofs], booleanType, operator)
        return booleanType
      }
      case 'if': {
        this.#inferAs(node.test, guards, booleanType, '?:')
        return unionOf([
          this.infer(node.yes, [...guards, ...proofsOf(node.test, true)]),
          this.infer(node.no, [...guards, ...proofsOf(node.test, false)]),
        ])
      }
      case 'binary':
        return this.#binary(node, guards)
      case 'has':
        this.read(node.path, guards, false)
        return booleanType
      case 'firstOf':
        return unionOf(node.steps.map((key) => this.#stepOutput(node, key)))
      case 'matches':
        this.#inferAs(node.text, guards, stringType, 'matches()')
        return booleanType
      case 'call':
        return this.#call(node, guards)
      case 'macro':
        return this.#macro(node, guards)
    }
  }

  /** Reports a type that never, or not always, is what a place takes. */
  expect(node: Node, actual: Type, expected: Type, place: string): void {
    const answer = fits(actual, expected)
    if (answer === 'no') {
      const rule = `${place} expects ${typeWords(expected)}`
      this.#report.add(
        'expression-type',
        node,
        `${rule}; ${placeWords(node)} is ${typeWords(actual)}`,
      )
    } else if (answer === 'maybe' && isNullable(actual) && fits(nullType, expected) === 'no') {
      this.#report.nullable(node, place)
    }
  }

  #inferAs(node: Node, guards: Guards, expected: Type, place: string): void {
    this.expect(node, this.infer(node, guards), expected, place)
  }

  /** `needsValue` is false where a link may be absent, as inside has(), and only its name must be right. */
  read(node: Node, guards: Guards, needsValue: boolean): Type {
    const type = this.#readLink(node, guards, needsValue)
    return this.#isCertain(node, guards) ? withoutNull(type) : type
  }

  /** Whether a link is there and not null by what was asked before. */
  #isCertain(node: Node, guards: Guards): boolean {
    const path = pathOf(node)
    if (path === undefined || isGuarded(path, guards)) return path !== undefined
    if (node.kind !== 'member' || node.name !== 'output' || node.of.kind !== 'variable')
      return false
    const item = this.#variables[node.of.slot]
    return (
      item !== undefined &&
      isGuarded(completed(node.of.name), guards) &&
      hasOutputWhenCompleted(item)
    )
  }

  #readLink(node: Node, guards: Guards, needsValue: boolean): Type {
    switch (node.kind) {
      case 'root': {
        const type = typeOfRoot(node.name, this.#types)
        if (type === undefined) {
          this.#report.add('unknown-reference', node, absentRoot[node.name] ?? node.name)
          return anyType
        }
        if (type.kind === 'any' && needsValue) this.#report.untyped(node)
        return type
      }
      case 'variable':
        return this.#variables[node.slot] ?? anyType
      case 'member': {
        const of = this.read(node.of, guards, needsValue)
        return this.#field(node, of, node.name, guards, needsValue)
      }
      case 'index': {
        const of = this.read(node.of, guards, needsValue)
        const key = this.infer(node.key, guards)
        if (node.key.kind === 'literal' && typeof node.key.value === 'string') {
          return this.#field(node, of, node.key.value, guards, needsValue)
        }
        return this.#item(node, of, key, guards, needsValue)
      }
      default:
        return this.infer(node, guards)
    }
  }

  #field(
    node: Node & { kind: 'member' | 'index' },
    of: Type,
    name: string,
    guards: Guards,
    needsValue: boolean,
  ): Type {
    if (of.kind === 'any') return anyType
    const objects = membersOf(of).flatMap((member) => (member.kind === 'object' ? [member] : []))
    if (objects.length === 0) {
      const found = `${placeWords(node.of)} is ${typeWords(of)}, which has no fields`
      this.#report.add('unknown-reference', node, `${placeWords(node)}: ${found}`)
      return anyType
    }
    const found = objects.flatMap((object) => {
      const field = object.fields.get(name)
      if (field !== undefined) return [field]
      return object.rest === undefined ? [] : [{ type: object.rest, optional: true }]
    })
    if (found.length === 0) {
      const known = objects.flatMap((object) => [...object.fields.keys()])
      this.#report.unknown(node, placeWords(node), name, known)
      return anyType
    }
    const type = unionOf(found.map((field) => field.type))
    if (!needsValue) return type
    const isCertain = this.#isCertain(node, guards)
    const isOptional = found.some((field) => field.optional) || found.length < membersOf(of).length
    if (type.kind === 'any') this.#report.untyped(node)
    else if (isOptional && !isCertain) this.#report.absent(node)
    return type
  }

  /** An item of a list, or a field of an object by a computed key. */
  #item(
    node: Node & { kind: 'index' },
    of: Type,
    key: Type,
    guards: Guards,
    needsValue: boolean,
  ): Type {
    if (of.kind === 'any') return anyType
    const found: Type[] = []
    for (const member of membersOf(of)) {
      if (member.kind === 'list' && fits(key, numberType) !== 'no') found.push(member.of)
      if (member.kind !== 'object' || fits(key, stringType) === 'no') continue
      for (const field of member.fields.values()) found.push(field.type)
      if (member.rest !== undefined) found.push(member.rest)
    }
    if (found.length === 0) {
      const rule = 'a list is indexed by a whole number and an object by a text'
      const message = `${rule}; ${placeWords(node.of)} is ${typeWords(of)}, the index ${typeWords(key)}`
      this.#report.add('expression-type', node, message)
      return anyType
    }
    const type = unionOf(found)
    if (!needsValue) return type
    const path = pathOf(node)
    // A place that is written out may lie behind the end of the list; one that is computed comes of its size.
    const isCertain = path === undefined || node.key.kind !== 'literal' || isGuarded(path, guards)
    if (type.kind === 'any') this.#report.untyped(node)
    else if (!isCertain) this.#report.absent(node)
    return type
  }

  #stepOutput(node: Node, key: string): Type {
    const step = this.#types.steps[key]
    if (step === undefined || !Object.hasOwn(this.#types.steps, key)) {
      this.#report.unknown(node, `steps.${key}`, key, Object.keys(this.#types.steps))
      return anyType
    }
    return step.kind === 'object' ? (step.fields.get('output')?.type ?? anyType) : anyType
  }

  #binary(node: Node & { kind: 'binary' }, guards: Guards): Type {
    const [left, right] = [this.infer(node.left, guards), this.infer(node.right, guards)]
    switch (node.operator) {
      case '==':
      case '!=':
        checkComparison(this.#report, node, left, right)
        return booleanType
      case 'in':
        checkMembership(this.#report, node, left, right)
        return booleanType
      case '<':
      case '<=':
      case '>':
      case '>=':
        this.#operands(node, left, right, [numberType, stringType, timestampType])
        return booleanType
      case '+':
        return this.#operands(node, left, right, [numberType, stringType, listType(anyType)])
      default:
        return this.#operands(node, left, right, [numberType])
    }
  }

  /** Both operands of one of these types; gives what they are together. */
  #operands(
    node: Node & { kind: 'binary' },
    left: Type,
    right: Type,
    allowed: readonly Type[],
  ): Type {
    const fitting = allowed.filter(
      (type) => fits(left, type) !== 'no' && fits(right, type) !== 'no',
    )
    if (fitting.length === 0) {
      this.#report.operands(node, left, right)
      return anyType
    }
    checkOperandNulls(this.#report, node, left, right)
    return unionOf(
      fitting.map((type) => {
        if (type.kind !== 'list') return type
        return unionOf([left, right].map((side) => (side.kind === 'list' ? side : type)))
      }),
    )
  }

  #call(node: Node & { kind: 'call' }, guards: Guards): Type {
    const types = node.args.map((arg) => this.infer(arg, guards))
    node.args.forEach((arg, place) => {
      const parameter = node.call.parameters[place] ?? node.call.parameters.at(-1)
      const type = types[place]
      if (parameter === undefined || type === undefined) return
      this.expect(arg, type, parameter.type, `${node.call.name}()`)
    })
    return node.call.resultType(types)
  }

  #macro(node: MacroNode, guards: Guards): Type {
    const over = this.infer(node.over, guards)
    const item = this.#walkedType(node, over)
    this.#variables[node.slot] = item
    let inside = [...guards, ...itemProofs(node.over, node.variable)]
    if (node.where !== undefined) {
      this.#inferAs(node.where, inside, booleanType, node.name)
      inside = [...inside, ...proofsOf(node.where, true)]
    }
    if (node.name === 'map') return listType(this.infer(node.body, inside))
    if (node.name === 'sortBy') {
      const sortable = unionOf([numberType, stringType, timestampType])
      this.#inferAs(node.body, inside, sortable, 'sortBy()')
      return listType(item)
    }
    this.#inferAs(node.body, inside, booleanType, `${node.name}()`)
    return node.name === 'filter' ? listType(item) : booleanType
  }

  /** What the variable of a macro stands for: an item of a list, or a key of an object. */
  #walkedType(node: MacroNode, over: Type): Type {
    if (over.kind === 'any') return anyType
    const found = membersOf(over).flatMap((member) => {
      if (member.kind === 'list') return [member.of]
      return member.kind === 'object' ? [stringType] : []
    })
    if (found.length === 0 && membersOf(over).length > 0) {
      const message = `${node.name}() expects a list or an object; ${placeWords(node.over)} is ${typeWords(over)}`
      this.#report.add('expression-type', node, message)
      return anyType
    }
    if (isNullable(over)) this.#report.nullable(node.over, `${node.name}()`)
    const item = unionOf(found)
    if (item.kind === 'any') this.#report.untyped(node.over, 'the items of ')
    return item
  }
}
