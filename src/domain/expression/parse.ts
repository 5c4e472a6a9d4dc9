import { RE2JS, RE2JSException } from 're2js'
import type { Problem } from '../problem.ts'
import type { LibraryFunction } from './function.ts'
import { type ASTNode, problemAt, readTree, tooDeep } from './grammar.ts'
import { library } from './library.ts'
import {
  figure,
  maxDepth,
  maxMacroDepth,
  maxNodes,
  maxPattern,
  maxPatternProgram,
} from './limits.ts'
import { isRoot, roots } from './scope.ts'
import { suggestion } from './suggestion.ts'
import { isPath, type MacroName, macroNames, type Node } from './syntax.ts'

/** Parses a source into a checked tree, or says all that is wrong with it. */
export function parse(source: string): Node | readonly Problem[] {
  const tree = readTree(source)
  if ('message' in tree) return [tree]
  const converter = new Converter(source)
  const node = converter.convert(tree, 1)
  return converter.problems.length > 0 ? converter.problems : node
}

/** What stands for a part with a problem, so that the rest is still looked at. */
const nothing: Node = { kind: 'literal', at: 0, value: null }

const callNames = [...library.keys(), ...macroNames, 'has', 'firstOf', 'matches']

/** Turns the grammar's tree into ours: names, arguments and limits are checked here, once. */
class Converter {
  readonly problems: Problem[] = []
  readonly #source: string
  /** The names of the macros around the current part, outermost first; a place is a slot at run time. */
  readonly #variables: string[] = []
  #nodes = 0

  constructor(source: string) {
    this.#source = source
  }

  /** A left operand stands as deep as its operator: a chain of `&&` is flat. */
  convert(tree: ASTNode, depth: number): Node {
    this.#nodes += 1
    if (this.#nodes === maxNodes + 1) {
      return this.#refuse(tree.pos, `the expression has more than ${maxNodes} parts; split it up`)
    }
    if (this.#nodes > maxNodes) return nothing
    if (depth > maxDepth) return this.#refuse(tree.pos, tooDeep)
    const at = tree.pos
    const inner = (part: ASTNode): Node => this.convert(part, depth + 1)
    switch (tree.op) {
      case 'value':
        return this.#literal(at, tree.args)
      case 'id':
        return this.#name(at, tree.args)
      case '.':
        return { kind: 'member', at, of: this.#holder(tree.args[0], depth), name: tree.args[1] }
      case '[]':
        return this.#index(at, this.#holder(tree.args[0], depth), inner(tree.args[1]))
      case 'list':
        return { kind: 'list', at, items: tree.args.map(inner) }
      case 'map':
        return this.#object(at, tree.args, inner)
      case '!_':
        return { kind: 'not', at, of: inner(tree.args) }
      case '-_': {
        const of = inner(tree.args)
        if (of.kind !== 'literal' || typeof of.value !== 'number') return { kind: 'negate', at, of }
        return { kind: 'literal', at, value: of.value === 0 ? 0 : -of.value }
      }
      case '&&':
      case '||': {
        const left = this.convert(tree.args[0], depth)
        return { kind: tree.op === '&&' ? 'and' : 'or', at, left, right: inner(tree.args[1]) }
      }
      case '?:': {
        const [test, yes, no] = tree.args
        return { kind: 'if', at, test: inner(test), yes: inner(yes), no: inner(no) }
      }
      case 'call':
        return this.#call(at, tree.args[0], tree.args[1], inner)
      case 'rcall': {
        const [name, receiver, args] = tree.args
        const macro = macroNames.find((known) => known === name)
        if (macro !== undefined) return this.#macro(at, macro, receiver, args, depth)
        return this.#call(at, name, [receiver, ...args], inner)
      }
      case '.?':
      case '[?]':
        return this.#refuse(at, 'optional access is not part of the language; ask has() instead')
      default: {
        const left = this.convert(tree.args[0], depth)
        const right = inner(tree.args[1])
        return { kind: 'binary', at, operator: tree.op, left, right }
      }
    }
  }

  #literal(at: number, value: unknown): Node {
    if (value === null || typeof value === 'boolean') return { kind: 'literal', at, value }
    if (typeof value === 'string') {
      // A text may come out of escapes, so that a look at the source is not enough.
      if (!value.includes('\u0000')) return { kind: 'literal', at, value }
      return this.#refuse(at, 'this text contains a NUL character, which cannot be stored')
    }
    if (typeof value === 'bigint' || typeof value === 'number') {
      const number = Number(value)
      if (number <= Number.MAX_SAFE_INTEGER) return { kind: 'literal', at, value: number }
      return this.#refuse(at, 'this number is beyond 2^53 − 1, where a double loses digits')
    }
    if (value instanceof Uint8Array) {
      return this.#refuse(at, 'bytes are not part of the language; write a text without the b')
    }
    return this.#refuse(at, 'unsigned numbers are not part of the language; leave out the u')
  }

  #name(at: number, name: string): Node {
    const slot = this.#variables.indexOf(name)
    if (slot >= 0) return { kind: 'variable', at, name, slot }
    if (name === 'steps') {
      return this.#refuse(at, 'steps is followed by the key of a step: steps.check_refund')
    }
    if (isRoot(name)) return { kind: 'root', at, name }
    const known = [...roots, ...this.#variables]
    return this.#refuse(at, `'${name}' is not known here; ${suggestion(name, known)}`)
  }

  /** What stands before a `.` or `[`. */
  #holder(tree: ASTNode, depth: number): Node {
    if (tree.op !== 'id' || tree.args !== 'steps') return this.convert(tree, depth + 1)
    this.#nodes += 1
    return { kind: 'root', at: tree.pos, name: 'steps' }
  }

  #index(at: number, of: Node, key: Node): Node {
    // Rules and checks depend on the steps that an expression reads, so these are plain from its text.
    if (of.kind === 'root' && of.name === 'steps') {
      if (key.kind === 'literal' && typeof key.value === 'string') {
        return { kind: 'member', at, of, name: key.value }
      }
      return this.#refuse(key.at, "the key of a step is written out: steps['check_refund']")
    }
    if (key.kind === 'literal' && typeof key.value !== 'string' && !isPlace(key.value)) {
      return this.#refuse(key.at, 'an index is a whole number from 0, or a text')
    }
    return { kind: 'index', at, of, key }
  }

  #object(
    at: number,
    entries: readonly (readonly [ASTNode, ASTNode])[],
    inner: (part: ASTNode) => Node,
  ): Node {
    const fields: [string, Node][] = []
    const names = new Set<string>()
    for (const [key, value] of entries) {
      const name = inner(key)
      const field = inner(value)
      if (name.kind !== 'literal' || typeof name.value !== 'string') {
        this.#refuse(key.pos, "the key of a field is a text that is written out: {'amount': 5}")
      } else if (names.has(name.value)) {
        this.#refuse(key.pos, `the field '${name.value}' is given twice`)
      } else {
        names.add(name.value)
        fields.push([name.value, field])
      }
    }
    return { kind: 'object', at, fields }
  }

  #call(at: number, name: string, args: readonly ASTNode[], inner: (part: ASTNode) => Node): Node {
    if (name === 'has') return this.#has(at, args, inner)
    if (name === 'firstOf') return this.#firstOf(at, args)
    if (name === 'matches') return this.#matches(at, args, inner)
    const overloads = library.get(name)
    const values = args.map(inner)
    if (overloads === undefined) {
      const isMacro = macroNames.some((known) => known === name)
      const hint = isMacro ? `write list.${name}(x, …)` : suggestion(name, callNames)
      return this.#refuse(at, `there is no function '${name}'; ${hint}`)
    }
    const count = values.length
    const call = overloads.find(({ parameters, variadic }) =>
      variadic ? count >= parameters.length : count === parameters.length,
    )
    if (call !== undefined) {
      const flaw = flawOf(call, values)
      return flaw === undefined
        ? { kind: 'call', at, call, args: values }
        : this.#refuse(flaw.at, flaw.message)
    }
    const counts = overloads.map(
      ({ parameters, variadic }) => `${parameters.length}${variadic ? ' or more' : ''}`,
    )
    return this.#refuse(at, `${name}() takes ${counts.join(' or ')} arguments; found ${count}`)
  }

  #has(at: number, args: readonly ASTNode[], inner: (part: ASTNode) => Node): Node {
    const [path, ...rest] = args.map(inner)
    if (path !== undefined && rest.length === 0 && isPath(path)) return { kind: 'has', at, path }
    return this.#refuse(at, 'has() takes one path, such as has(steps.check_refund.output.state)')
  }

  #firstOf(at: number, args: readonly ASTNode[]): Node {
    const steps: string[] = []
    for (const arg of args) {
      this.#nodes += 1
      if (arg.op === '.' && arg.args[0].op === 'id' && arg.args[0].args === 'steps') {
        steps.push(arg.args[1])
      } else {
        this.#refuse(arg.pos, 'firstOf() takes steps, such as firstOf(steps.refund, steps.credit)')
      }
    }
    if (args.length === 0) return this.#refuse(at, 'firstOf() takes at least one step')
    return { kind: 'firstOf', at, steps }
  }

  #matches(at: number, args: readonly ASTNode[], inner: (part: ASTNode) => Node): Node {
    const [text, pattern, ...rest] = args.map(inner)
    if (text === undefined || pattern?.kind !== 'literal' || rest.length > 0) {
      return this.#refuse(
        at,
        "matches() takes a text and a pattern written out: x.matches('[a-z]+')",
      )
    }
    if (typeof pattern.value !== 'string') {
      return this.#refuse(pattern.at, 'the pattern of matches() is a text')
    }
    const compiled = compilePattern(pattern.value)
    if (typeof compiled === 'string') return this.#refuse(pattern.at, compiled)
    return { kind: 'matches', at, text, pattern: compiled }
  }

  #macro(
    at: number,
    name: MacroName,
    receiver: ASTNode,
    args: readonly ASTNode[],
    depth: number,
  ): Node {
    const over = this.convert(receiver, depth + 1)
    const [variable, ...bodies] = args
    const mostBodies = name === 'map' ? 2 : 1
    if (bodies.length < 1 || bodies.length > mostBodies || variable?.op !== 'id') {
      const form = name === 'map' ? 'map(x, …) or map(x, where, …)' : `${name}(x, …)`
      return this.#refuse(at, `${name}() is written list.${form}`)
    }
    const slot = this.#variables.length
    if (slot >= maxMacroDepth) {
      const rule = `${macroNames.join(', ')} stand in one another at most ${maxMacroDepth} deep`
      return this.#refuse(at, `${rule}; compute the inner list in a step before`)
    }
    if (isRoot(variable.args) || this.#variables.includes(variable.args)) {
      const taken = `'${variable.args}' already has a meaning here`
      return this.#refuse(variable.pos, `${taken}; choose another name for the items`)
    }
    this.#variables.push(variable.args)
    const inner = bodies.map((part) => this.convert(part, depth + 1))
    this.#variables.pop()
    const body = inner.at(-1) ?? nothing
    const macro = { kind: 'macro', at, name, over, variable: variable.args, slot, body } as const
    const [where] = inner
    return where === undefined || inner.length === 1 ? macro : { ...macro, where }
  }

  #refuse(at: number, message: string): Node {
    this.problems.push(problemAt(this.#source, at, message))
    return nothing
  }
}

function isPlace(value: number | boolean | null): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** What is wrong with an argument that has to be written out. */
function flawOf(
  { name, parameters }: LibraryFunction,
  args: readonly Node[],
): { readonly at: number; readonly message: string } | undefined {
  for (const [place, { flaw, words = 'a text' }] of parameters.entries()) {
    const arg = args[place]
    if (flaw === undefined || arg === undefined) continue
    if (arg.kind !== 'literal' || typeof arg.value !== 'string') {
      return { at: arg.at, message: `${name}() takes ${words}, written out` }
    }
    const message = flaw(arg.value)
    if (message !== undefined) return { at: arg.at, message }
  }
  return undefined
}

function compilePattern(pattern: string): RE2JS | string {
  if (pattern.length > maxPattern) {
    return `the pattern has ${figure(pattern.length)} characters; at most ${maxPattern} are taken`
  }
  try {
    const compiled = RE2JS.compile(pattern)
    const size = compiled.programSize()
    if (size <= maxPatternProgram) return compiled
    const found = `the pattern repeats itself to ${figure(size)} parts`
    return `${found}; at most ${figure(maxPatternProgram)} are taken`
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    return `this is not a pattern: ${error.message} (look-around and back-references are left out)`
  }
}
