import type { RE2JS } from 're2js'
import type { LibraryFunction } from './function.ts'
import type { Root } from './scope.ts'

/** An operator between two values that are both evaluated first. */
export type BinaryOperator =
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'

/** What walks a list with a variable of its own. */
export const macroNames = ['all', 'exists', 'exists_one', 'filter', 'map', 'sortBy'] as const
export type MacroName = (typeof macroNames)[number]

export interface MacroNode {
  readonly kind: 'macro'
  readonly at: number
  readonly name: MacroName
  /** The list, or the object whose keys are walked in ascending order. */
  readonly over: Node
  readonly variable: string
  /** Where the variable's value stands: 0 in the outer macro, 1 in the inner one. */
  readonly slot: number
  /** Of `map(x, where, body)`: which items are mapped. */
  readonly where?: Node
  readonly body: Node
}

/**
 * A parsed expression. Names, functions and shapes of arguments were checked by the parser; `at` is the offset in the
 * source that messages point to.
 */
export type Node =
  | {
      readonly kind: 'literal'
      readonly at: number
      readonly value: string | number | boolean | null
    }
  | { readonly kind: 'root'; readonly at: number; readonly name: Root }
  | { readonly kind: 'variable'; readonly at: number; readonly name: string; readonly slot: number }
  | { readonly kind: 'member'; readonly at: number; readonly of: Node; readonly name: string }
  | { readonly kind: 'index'; readonly at: number; readonly of: Node; readonly key: Node }
  | { readonly kind: 'list'; readonly at: number; readonly items: readonly Node[] }
  | {
      readonly kind: 'object'
      readonly at: number
      readonly fields: readonly (readonly [name: string, value: Node])[]
    }
  | { readonly kind: 'not' | 'negate'; readonly at: number; readonly of: Node }
  | {
      readonly kind: 'binary'
      readonly at: number
      readonly operator: BinaryOperator
      readonly left: Node
      readonly right: Node
    }
  | {
      readonly kind: 'and' | 'or'
      readonly at: number
      readonly left: Node
      readonly right: Node
    }
  | {
      readonly kind: 'if'
      readonly at: number
      readonly test: Node
      readonly yes: Node
      readonly no: Node
    }
  | { readonly kind: 'has'; readonly at: number; readonly path: Node }
  | { readonly kind: 'firstOf'; readonly at: number; readonly steps: readonly string[] }
  | { readonly kind: 'matches'; readonly at: number; readonly text: Node; readonly pattern: RE2JS }
  | {
      readonly kind: 'call'
      readonly at: number
      readonly call: LibraryFunction
      readonly args: readonly Node[]
    }
  | MacroNode

/** 1-based line and column of an offset. Columns count UTF-16 code units, as editors do. */
export function positionOf(source: string, at: number): { line: number; column: number } {
  if (!/[\r\n]/.test(source)) return { line: 1, column: Math.min(at, source.length) + 1 }
  const before = source.slice(0, at).split(/\r\n|\r|\n/)
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}

/** Whether a node is a chain of links from a name: what has() takes. */
export function isPath(node: Node): boolean {
  switch (node.kind) {
    case 'root':
    case 'variable':
      return true
    case 'member':
    case 'index':
      return isPath(node.of)
    default:
      return false
  }
}

/** What an operator takes, for messages. */
export const operatorWords: { readonly [O in BinaryOperator]: string } = {
  '==': 'two values of one kind',
  '!=': 'two values of one kind',
  '<': 'two numbers, two texts or two timestamps',
  '<=': 'two numbers, two texts or two timestamps',
  '>': 'two numbers, two texts or two timestamps',
  '>=': 'two numbers, two texts or two timestamps',
  in: 'a value and a list, or a text and an object',
  '+': 'two numbers, two texts or two lists',
  '-': 'two numbers',
  '*': 'two numbers',
  '/': 'two numbers',
  '%': 'two numbers',
}

/** How messages call the value of a node: its path as it is written, without the values of computed keys. */
export function placeWords(node: Node): string {
  switch (node.kind) {
    case 'root':
    case 'variable':
      return node.name
    case 'member':
      return `${placeWords(node.of)}.${node.name}`
    case 'index': {
      const { key } = node
      const shown = key.kind === 'literal' ? JSON.stringify(key.value) : placeWords(key)
      return `${placeWords(node.of)}[${shown}]`
    }
    default:
      return 'the value'
  }
}
