import type { Call } from './function.ts'
import { sortByKey } from './library.ts'
import { checkLength, figure, maxWork } from './limits.ts'
import { checkNumber, operandWords, operationOf } from './operations.ts'
import { pathOf, scopePaths } from './reads.ts'
import { absentRoot, findRoot, findValue, type Scope } from './scope.ts'
import { type MacroNode, type Node, placeWords } from './syntax.ts'
import { type Calendar, defaultCalendar } from './time.ts'
import { Fault, findLink, isList, isMap, keysOf, refuse, type Value, wordsOf } from './value.ts'

/** One evaluation: what it reads, the variables of its macros, and how much work it may still do. */
export class Evaluation implements Call {
  readonly scope: Scope
  readonly variables: Value[] = []
  #workLeft = maxWork

  constructor(scope: Scope) {
    this.scope = scope
  }

  get calendar(): Calendar {
    return this.scope.calendar ?? defaultCalendar
  }

  spend(units: number): void {
    this.#workLeft -= units
    if (this.#workLeft < 0) {
      throw new Fault(`the expression needs more than ${figure(maxWork)} units of work`)
    }
  }
}

/** A compiled expression. Throws Fault and nothing else, as long as the scope is JSON. */
export type Run = (evaluation: Evaluation) => Value

/** Turns a parsed expression into closures, once; they are what runs. */
export function compile(node: Node): Run {
  const run = compileNode(node)
  if (node.kind === 'literal') return run
  return (evaluation) => {
    try {
      evaluation.spend(1)
      return run(evaluation)
    } catch (error) {
      // Operations and functions do not know where they stand; the node that calls them does.
      if (error instanceof Fault) error.at ??= node.at
      throw error
    }
  }
}

function compileNode(node: Node): Run {
  switch (node.kind) {
    case 'literal': {
      const { value } = node
      return () => value
    }
    case 'root':
      return (evaluation) => {
        const value = findRoot(evaluation.scope, node.name)
        return value === undefined ? refuse(absentRoot[node.name] ?? node.name) : value
      }
    case 'variable':
      return (evaluation) => evaluation.variables[node.slot] ?? null
    case 'member':
      return compileRead(node, compileMember(node))
    case 'index':
      return compileRead(node, compileIndex(node))
    case 'list': {
      const items = node.items.map(compile)
      return (evaluation) => items.map((item) => item(evaluation))
    }
    case 'object':
      return compileObject(node)
    case 'not': {
      const of = compileBoolean(node.of, '!')
      return (evaluation) => !of(evaluation)
    }
    case 'negate': {
      const of = compile(node.of)
      return (evaluation) => {
        const value = of(evaluation)
        return typeof value === 'number'
          ? checkNumber(-value)
          : refuse(`- expects a number; ${placeWords(node.of)} is ${wordsOf(value)}`)
      }
    }
    case 'and': {
      const [left, right] = [compileBoolean(node.left, '&&'), compileBoolean(node.right, '&&')]
      return (evaluation) => left(evaluation) && right(evaluation)
    }
    case 'or': {
      const [left, right] = [compileBoolean(node.left, '||'), compileBoolean(node.right, '||')]
      return (evaluation) => left(evaluation) || right(evaluation)
    }
    case 'if': {
      const test = compileBoolean(node.test, '?:')
      const [yes, no] = [compile(node.yes), compile(node.no)]
      return (evaluation) => (test(evaluation) ? yes(evaluation) : no(evaluation))
    }
    case 'binary':
      return compileBinary(node)
    case 'has': {
      const find = compileFind(node.path)
      return (evaluation) => (find(evaluation) ?? null) !== null
    }
    case 'firstOf':
      return compileFirstOf(node)
    case 'matches': {
      const text = compile(node.text)
      const program = node.pattern.programSize()
      return (evaluation) => {
        const value = text(evaluation)
        if (typeof value !== 'string') {
          return refuse(`matches() expects a text; found ${wordsOf(value)}`)
        }
        evaluation.spend((value.length * program) / 64)
        return node.pattern.testExact(value)
      }
    }
    case 'call':
      return compileCall(node)
    case 'macro':
      return compileMacro(node)
  }
}

/** An operand that must be a boolean: nothing else counts as true or false. */
function compileBoolean(node: Node, operator: string): (evaluation: Evaluation) => boolean {
  const run = compile(node)
  return (evaluation) => {
    const value = run(evaluation)
    if (typeof value === 'boolean') return value
    const found = `${placeWords(node)} is ${wordsOf(value)}`
    throw new Fault(`${operator} expects a boolean; ${found}`, node.at)
  }
}

/** A path that is plain from the text is followed in one go; only when that fails it is walked, to say where. */
function compileRead(node: Node, walk: Run): Run {
  const [path] = scopePaths([pathOf(node) ?? []])
  if (path === undefined) return walk
  return (evaluation) => {
    const value = findValue(evaluation.scope, path)
    return value === undefined ? walk(evaluation) : value
  }
}

function compileMember(node: Node & { kind: 'member' }): Run {
  const of = compile(node.of)
  return (evaluation) => {
    const value = of(evaluation)
    const found = findLink(value, node.name)
    return found === undefined ? refuse(absentMember(node, value)) : found
  }
}

function absentMember(node: Node & { kind: 'member' }, value: Value): string {
  const place = placeWords(node)
  if (!isMap(value)) {
    return `${place} is absent: ${placeWords(node.of)} is ${wordsOf(value)}, which has no fields`
  }
  if (node.of.kind === 'root' && node.of.name === 'steps') {
    return `${place} is absent: the definition has no step of this key`
  }
  if (node.of.kind === 'member' && findLink(value, 'status') !== undefined) {
    return `${place} is absent: the step is ${String(findLink(value, 'status'))}`
  }
  return `${place} is absent`
}

function compileIndex(node: Node & { kind: 'index' }): Run {
  const [of, key] = [compile(node.of), compile(node.key)]
  return (evaluation) => {
    const [value, at] = [of(evaluation), key(evaluation)]
    if (isList(value) ? typeof at !== 'number' : !isMap(value) || typeof at !== 'string') {
      const rule = 'a list is indexed by a whole number and an object by a text'
      return refuse(`${rule}; ${wordsOf(value)} was indexed by ${wordsOf(at)}`)
    }
    const found = typeof at === 'number' || typeof at === 'string' ? findLink(value, at) : undefined
    if (found !== undefined) return found
    const size = isList(value) ? `: the list has ${figure(value.length)} items` : ''
    return refuse(`${placeWords(node)} is absent${size}`)
  }
}

/** Like a read, but an absent link gives `undefined`. The keys of indexes are evaluated as ever, and may fail. */
function compileFind(node: Node): (evaluation: Evaluation) => Value | undefined {
  const [path] = scopePaths([pathOf(node) ?? []])
  if (path !== undefined) return ({ scope }) => findValue(scope, path)
  switch (node.kind) {
    case 'root':
      return (evaluation) => findRoot(evaluation.scope, node.name)
    case 'member': {
      const of = compileFind(node.of)
      return (evaluation) => {
        const value = of(evaluation)
        return value === undefined ? undefined : findLink(value, node.name)
      }
    }
    case 'index': {
      const [of, key] = [compileFind(node.of), compile(node.key)]
      return (evaluation) => {
        const [value, at] = [of(evaluation), key(evaluation)]
        if (value === undefined) return undefined
        return typeof at === 'number' || typeof at === 'string' ? findLink(value, at) : undefined
      }
    }
    default:
      return compile(node)
  }
}

function compileObject(node: Node & { kind: 'object' }): Run {
  const fields = node.fields.map(([name, value]) => ({ name, run: compile(value) }))
  return (evaluation) => {
    const result: Record<string, Value> = Object.create(null)
    for (const { name, run } of fields) result[name] = run(evaluation)
    return result
  }
}

function compileFirstOf(node: Node & { kind: 'firstOf' }): Run {
  return ({ scope }) => {
    for (const key of node.steps) {
      const step = findValue(scope, ['steps', key])
      if (step === undefined) {
        return refuse(`steps.${key} is absent: the definition has no step of this key`)
      }
      if (findLink(step, 'status') !== 'completed') continue
      const output = findLink(step, 'output')
      return output === undefined ? refuse(`steps.${key}.output is absent`) : output
    }
    return refuse(`firstOf() found none of these steps completed: ${node.steps.join(', ')}`)
  }
}

function compileCall(node: Node & { kind: 'call' }): Run {
  const args = node.args.map(compile)
  return (evaluation) => {
    const values = args.map((arg) => arg(evaluation))
    const result = node.call.run(values, evaluation)
    return typeof result === 'number' ? checkNumber(result) : result
  }
}

function compileBinary(node: Node & { kind: 'binary' }): Run {
  const [left, right] = [compile(node.left), compile(node.right)]
  const operate = operationOf(node)
  return (evaluation) => {
    const [a, b] = [left(evaluation), right(evaluation)]
    const result = operate(a, b, evaluation)
    if (result === undefined) return refuse(operandWords(node, a, b))
    return typeof result === 'number' ? checkNumber(result) : result
  }
}

function compileMacro(node: MacroNode): Run {
  const over = compile(node.over)
  const where = node.where === undefined ? undefined : compileBoolean(node.where, `${node.name}()`)
  const items = (evaluation: Evaluation): readonly Value[] => {
    const value = over(evaluation)
    const list = isMap(value) ? keysOf(value, evaluation) : value
    if (!isList(list)) {
      return refuse(`${node.name}() expects a list or an object; found ${wordsOf(value)}`)
    }
    checkLength(list.length)
    // Keys are walked in one order, wherever the object comes from.
    return isMap(value) ? list.toSorted() : list
  }
  const bind = (evaluation: Evaluation, item: Value): void => {
    evaluation.spend(1)
    evaluation.variables[node.slot] = item
  }

  if (node.name === 'map' || node.name === 'sortBy') {
    const body = compile(node.body)
    return (evaluation) => {
      const list = items(evaluation)
      const [kept, results]: [Value[], Value[]] = [[], []]
      for (const item of list) {
        bind(evaluation, item)
        if (where !== undefined && !where(evaluation)) continue
        kept.push(item)
        results.push(body(evaluation))
      }
      return node.name === 'map' ? results : sortByKey(kept, results, evaluation)
    }
  }

  const holds = compileBoolean(node.body, `${node.name}()`)
  switch (node.name) {
    case 'all':
      return (evaluation) =>
        items(evaluation).every((item) => {
          bind(evaluation, item)
          return holds(evaluation)
        })
    case 'exists':
      return (evaluation) =>
        items(evaluation).some((item) => {
          bind(evaluation, item)
          return holds(evaluation)
        })
    case 'exists_one':
    case 'filter':
      return (evaluation) => {
        const kept = items(evaluation).filter((item) => {
          bind(evaluation, item)
          return holds(evaluation)
        })
        return node.name === 'filter' ? kept : kept.length === 1
      }
  }
}
