import type { Json } from '../../../src/domain/json.ts'
import type { DomainTools, ToolText } from '../cases.ts'
import { type CheckText, inputsOf, type Leaf } from '../cases.ts'
import type { Learned } from '../domain-tools.ts'
import { lookupKey } from '../names.ts'
import { type Lookup, Untranslatable } from '../playbook.ts'
import { type Shape, unknownShape } from '../shape.ts'
import { hasAll, wordsOf } from './phrase.ts'
import { quote, type Term } from './term.ts'

/** A tool that a rule may ask, with what it is asked for. */
export interface Source {
  readonly tool: string
  readonly text: ToolText
  /** What the tool answers. */
  readonly output: Term
  /** The arguments, as expressions. */
  readonly args: readonly string[]
}

/** An item that a quantifier goes through. */
export interface Item {
  /** The value that the variable stands for: an item of a list, a key of a map. */
  readonly self: Term
  /** The record of the item: itself, or what it is the key of in the map. */
  readonly record: Term | undefined
  /** What it is the key of in the whole state. */
  readonly keyed: Term | undefined
  /** Names by which the text may refer to it. */
  readonly words: readonly string[]
  /** The list or map that it is of; absent for a date. */
  readonly of?: { readonly keyWords: readonly string[]; readonly isMap: boolean }
}

/** A record that a rule is about, as the one item of a list that the customer has named by its id. */
export interface Bound {
  readonly name: string
  readonly list: Term
  readonly test: string
}

/**
 * What the words of one rule can mean: what the customer supplied, the answers of the tools that the rule is decided
 * by, constants of the policy, and names that the text itself defines. Remembers what was looked up.
 */
export class RuleScope {
  readonly leaf: Leaf
  readonly check: CheckText
  readonly tools: DomainTools
  readonly learned: Learned
  readonly lookups = new Map<string, Lookup>()
  readonly definitions = new Map<string, Term>()
  readonly items: Item[] = []
  readonly bound: Bound[] = []
  /** Compare times by their days. */
  wholeDays = false
  /** Compare texts whatever their case. */
  ignoresCase = false
  /** Texts that the sentence puts in order, from low to high. */
  ranking: readonly string[] = []
  readonly #known = new Map<string, { lookup: Lookup; needs: readonly string[] }>()

  constructor(
    leaf: Leaf,
    check: CheckText,
    domain: { readonly tools: DomainTools; readonly learned: Learned },
  ) {
    this.leaf = leaf
    this.check = check
    this.tools = domain.tools
    this.learned = domain.learned
  }

  /** A value that the customer supplies, by the name that the check has for it. */
  input(name: string): Term {
    const supplied = this.leaf.args[name] ?? name
    const shape = this.learned.inputs.get(supplied) ?? unknownShape
    return { cel: `input.${supplied}`, shape, guards: [`has(input.${supplied})`] }
  }

  /** The tools that the rule is decided by, each asked for what the rule is about. */
  sources(): readonly Source[] {
    return this.check.via.flatMap((tool) => this.findSource(tool) ?? [])
  }

  /** The tool that answers the whole state, if the domain has one. */
  wholeState(): Source | undefined {
    const found = Object.entries(this.tools.tools).find(
      ([, { reads, inputs }]) => reads === 'everything' && inputs.length === 0,
    )
    return found === undefined ? undefined : this.findSource(found[0])
  }

  /** A tool with arguments filled in by name; `given` fixes some of them. Undefined when one cannot be found. */
  findSource(tool: string, given: Readonly<Record<string, Json>> = {}): Source | undefined {
    const text = this.tools.tools[tool]
    if (text === undefined) throw new Untranslatable(`there is no tool ${tool}`)
    const args = inputsOf(text)
      .filter(({ name, optional }) => !optional || this.check.inputs.includes(name))
      .map(({ name }) => {
        const constant = given[name]
        if (constant !== undefined) return { name, term: constantTerm(constant), constant }
        return { name, term: this.#argument(tool, name) }
      })
    if (args.some(({ term }) => term === undefined)) return undefined
    const renamed = args.flatMap(({ name, term, constant }) => {
      if (constant !== undefined) return [String(constant)]
      return term?.cel === `input.${name}` ? [] : [lastName(term?.cel ?? '')]
    })
    const key = lookupKey(tool, renamed)
    const guards = args.flatMap(({ term }) => term?.guards ?? [])
    const needs = args.map(({ term }) => term?.cel ?? '')
    const filled = args.map(({ name, term, constant }) => [name, constant ?? `{{${term?.cel}}}`])
    const lookup = { key, tool, with: Object.fromEntries(filled), when: [...new Set(guards)] }
    this.#known.set(key, { lookup, needs })
    const output: Term = {
      cel: `steps.${key}.output`,
      shape: this.learned.outputs.get(tool) ?? unknownShape,
      guards: [`steps.${key}.status == 'completed'`],
    }
    return { tool, text, args: needs, output }
  }

  /** Notes the tools that an expression reads, after those that they need themselves. */
  use(cel: string): void {
    for (const [, key = ''] of cel.matchAll(/steps\.(\w+)\./g)) {
      const found = this.#known.get(key)
      if (found === undefined || this.lookups.has(key)) continue
      for (const need of found.needs) this.use(need)
      this.lookups.set(key, found.lookup)
    }
  }

  /**
   * What an argument of a tool is: the rule's input of that name, else the one input whose name ends in it, else a
   * field of that name in what another of the rule's tools answers, else what the customer supplies under that name.
   */
  #argument(tool: string, name: string): Term | undefined {
    if (this.check.inputs.includes(name)) return this.input(name)
    const ending = this.check.inputs.filter((input) => hasAll(wordsOf(input), wordsOf(name)))
    if (ending.length === 1 && ending[0] !== undefined) return this.input(ending[0])
    for (const other of this.check.via) {
      const isOther =
        other !== tool &&
        !inputsOf(this.tools.tools[other] ?? noTool).some(
          (input) => !this.check.inputs.includes(input.name),
        )
      const source = isOther ? this.findSource(other) : undefined
      const field = source?.output.shape.fields.get(name)
      if (source !== undefined && field !== undefined && !source.output.shape.isMap) {
        const cel = `${source.output.cel}.${name}`
        return {
          cel,
          shape: field.shape,
          guards: [...source.output.guards, ...fieldGuard(cel, field)],
        }
      }
    }
    return this.learned.inputs.has(name) ? this.input(name) : undefined
  }
}

const noTool: ToolText = {
  kind: 'read',
  inputs: [],
  refuses: '',
  reads: '',
  writes: '',
  result: '',
}

export function fieldGuard(
  cel: string,
  field: { readonly always: boolean; readonly shape: Shape },
): readonly string[] {
  return field.always && !field.shape.kinds.has('null') ? [] : [`has(${cel})`]
}

function lastName(cel: string): string {
  return cel.split('.').at(-1) ?? cel
}

function constantTerm(value: Json): Term {
  const cel = typeof value === 'string' ? quote(value) : String(value)
  return { cel, shape: unknownShape, guards: [] }
}
