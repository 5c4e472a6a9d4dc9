import { add, divide, multiply, remainder, subtract } from './decimal.ts'
import { checkLength, checkTextLength } from './limits.ts'
import { type BinaryOperator, type Node, operatorWords, placeWords } from './syntax.ts'
import {
  type Budget,
  compare,
  Fault,
  isEqual,
  isList,
  isMap,
  kindOf,
  refuse,
  type Value,
  wordsOf,
} from './value.ts'

/** Computes an operator; `undefined` for operands that it does not take. */
export type Operation = (left: Value, right: Value, budget: Budget) => Value | undefined

/** What an operator does, which depends on whether one side is the literal null. */
export function operationOf(node: Node & { kind: 'binary' }): Operation {
  const special = isNull(node.left) || isNull(node.right) ? nullTest(node.operator) : undefined
  return special ?? operations[node.operator]
}

/** Null as it is written out may be compared with anything; a null that a value turns out to be may not. */
function nullTest(operator: BinaryOperator): Operation | undefined {
  switch (operator) {
    case '==':
      return (a, b) => a === null && b === null
    case '!=':
      return (a, b) => a !== null || b !== null
    case 'in':
      return (a, b, budget) => {
        if (a !== null || !isList(b)) return undefined
        budget.spend(b.length)
        return b.includes(null)
      }
    default:
      return undefined
  }
}

const operations: { readonly [O in BinaryOperator]: Operation } = {
  '==': equals,
  '!=': (a, b, budget) => {
    const isSame = equals(a, b, budget)
    return isSame === undefined ? undefined : !isSame
  },
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
  in: isIn,
  '+': plus,
  '-': arithmetic(subtract),
  '*': arithmetic(multiply),
  '/': arithmetic(divide),
  '%': arithmetic(remainder),
}

function equals(a: Value, b: Value, budget: Budget): boolean | undefined {
  if (a === null || b === null || kindOf(a) !== kindOf(b)) return undefined
  return isEqual(a, b, budget)
}

function ordered(holds: (order: number) => boolean): Operation {
  return (a, b, budget) => {
    if (typeof a === 'string') budget.spend(a.length >> 10)
    const order = compare(a, b)
    return order === undefined ? undefined : holds(order)
  }
}

/** An item of a list, or a key of an object. Items that are null are unequal to all but the literal null. */
function isIn(a: Value, b: Value, budget: Budget): boolean | undefined {
  if (isMap(b)) return typeof a === 'string' ? Object.hasOwn(b, a) : undefined
  if (!isList(b) || a === null) return undefined
  for (const item of b) {
    budget.spend(1)
    if (item === null) continue
    if (kindOf(item) !== kindOf(a)) {
      throw new Fault(
        `in expects items of one kind; ${wordsOf(a)} is compared with ${wordsOf(item)}`,
      )
    }
    if (isEqual(item, a, budget)) return true
  }
  return false
}

function plus(a: Value, b: Value, budget: Budget): Value | undefined {
  if (typeof a === 'number' && typeof b === 'number') return add(a, b)
  if (typeof a === 'string' && typeof b === 'string') {
    checkTextLength(a.length + b.length)
    return a + b
  }
  if (!isList(a) || !isList(b)) return undefined
  checkLength(a.length + b.length)
  budget.spend(a.length + b.length)
  return [...a, ...b]
}

function arithmetic(compute: (a: number, b: number) => number): Operation {
  const divides = compute === divide || compute === remainder
  return (a, b) => {
    if (typeof a !== 'number' || typeof b !== 'number') return undefined
    if (divides && b === 0) throw new Fault('division by zero')
    return compute(a, b)
  }
}

function isNull(node: Node): boolean {
  return node.kind === 'literal' && node.value === null
}

/** Every number is one that canonical JSON takes. */
export function checkNumber(value: number): number {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value === 0 ? 0 : value
  return refuse('the result is a number beyond 2^53 − 1, where digits would be lost')
}

/** Why two operands are refused. */
export function operandWords(node: Node & { kind: 'binary' }, a: Value, b: Value): string {
  const { operator } = node
  const empty = a === null ? node.left : b === null ? node.right : undefined
  if (empty !== undefined) {
    return `${operator} cannot take null: ${placeWords(empty)} is null; ask has() or != null first`
  }
  return `${operator} expects ${operatorWords[operator]}; found ${wordsOf(a)} and ${wordsOf(b)}`
}
