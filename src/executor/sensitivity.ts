import type { StepRow } from '../domain/execution.ts'
import type { Expression, Path } from '../domain/expression.ts'
import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'
import { marksSensitive, sensitivePlaces, type ValuePath } from '../domain/sensitive-places.ts'
import { sensitiveText } from '../domain/sensitive-value.ts'
import type { Reference, Template, TemplateString } from '../domain/template.ts'
import { isEachRow, isLoopRow } from './iteration.ts'
import type { Plan, PlanNode } from './plan.ts'

/** A place whose value is not to stand in the record. */
export interface SensitivePlace {
  readonly path: ValuePath
  /** Of a text that is sensitive in parts: the text without them. Absent: the whole value is. */
  readonly mask?: (text: string) => string
  /** Whether a schema says so of the place itself. Else it is made of such values, and others may stand in it as well. */
  readonly isMarked?: boolean
}

/** What is known of a procedure that a plan calls. */
export interface CalledProcedure {
  readonly input: JsonSchema
  /** Whether anything in it, or in what it calls, is sensitive. */
  readonly isSensitive: boolean
}

/**
 * What of a run is sensitive, as far as that can be told from its plan: what a schema marks (of the input, a tool, an
 * answer), and what a template or an expression makes of it, over any number of steps. What a tool answers is what its
 * own schema marks: it cannot be told what it makes of its input.
 */
export interface Sensitivity {
  /** The schema of the run's own input. */
  readonly input: JsonSchema
  /** Names of the definition's `output` that are made of sensitive values. */
  readonly output: ReadonlySet<string>
  placesOf(row: StepRow): {
    readonly input: readonly SensitivePlace[]
    readonly output: readonly SensitivePlace[]
  }
  /** Whether words that do not fit the question of a step are to be kept apart, as its answers are. */
  isAnswerSensitive(stepKey: string): boolean
}

type Procedures = ReadonlyMap<string, CalledProcedure>

/** The parts of a plan that say what is sensitive. */
export type Marked = Pick<Plan, 'definition' | 'nodes' | 'tools' | 'output'>

/** What of the runs of a plan is sensitive; undefined when nothing is. `called`: what it calls, by procedure key. */
export function findSensitivity(plan: Marked, called: Procedures): Sensitivity | undefined {
  const answers = [...plan.nodes.values()].flatMap((node) =>
    node.kind === 'ask' ? [node.step.answer] : [],
  )
  const contracts = [...plan.tools.values()].flatMap(({ contract }) => [
    contract.input,
    contract.output,
  ])
  const schemas = [plan.definition.input ?? {}, ...contracts, ...answers]
  const isMarked =
    schemas.some((schema) => marksSensitive(schema)) ||
    [...called.values()].some(({ input, isSensitive }) => isSensitive || marksSensitive(input))
  return isMarked ? new Flow(plan, called) : undefined
}

/** Follows sensitive values from where a schema marks them to where the playbook copies them. */
class Flow implements Sensitivity {
  readonly input: JsonSchema
  readonly output: ReadonlySet<string>
  readonly #plan: Marked
  readonly #called: Procedures
  /** By step: names of `compute`, or `text` of an `end`, or `items` of a list, or `until` of a wait. */
  readonly #made = new Map<string, Set<string>>()

  constructor(plan: Marked, called: Procedures) {
    this.#plan = plan
    this.#called = called
    this.input = plan.definition.input ?? {}
    // A round of a loop may read what a later step made in the round before.
    let isMore = true
    while (isMore) isMore = this.#followAll()
    this.output = new Set(
      (plan.output ?? []).flatMap(([name, value]) => (this.#isMadeOf(value) ? [name] : [])),
    )
  }

  isAnswerSensitive(stepKey: string): boolean {
    const node = this.#plan.nodes.get(stepKey)
    return node?.kind === 'ask' && marksSensitive(node.step.answer)
  }

  placesOf(row: StepRow): { input: readonly SensitivePlace[]; output: readonly SensitivePlace[] } {
    const node = this.#plan.nodes.get(row.stepKey)
    if (node === undefined) return { input: [], output: [] }
    if (isEachRow(node, row)) {
      const items = Array.isArray(row.output) ? row.output : []
      const input = this.#makes(node.key, 'items') ? [{ path: ['items'] }] : []
      return { input, output: items.flatMap((item, at) => this.#inOutput(node, item, [at])) }
    }
    const input = isLoopRow(node, row) ? [] : this.#inInput(node, row.input)
    return { input, output: this.#inOutput(node, row.output, []) }
  }

  #inInput(node: PlanNode, input: Json): readonly SensitivePlace[] {
    switch (node.kind) {
      case 'tool': {
        const schema = this.#plan.tools.get(node.step.tool)?.contract.input ?? {}
        return [...marked(input, schema, []), ...this.#inTemplate(node, node.input, [])]
      }
      case 'ask':
        return this.#inTemplate(node, node.message, ['message'])
      case 'approval':
        return this.#inTemplate(node, node.show, ['show'])
      case 'call': {
        const schema = this.#called.get(node.step.call)?.input ?? {}
        const handed = (isJsonObject(input) ? input.input : undefined) ?? null
        return [
          ...marked(handed, schema, ['input']),
          ...this.#inTemplate(node, node.input, ['input']),
        ]
      }
      case 'wait':
        return this.#makes(node.key, 'until') ? [{ path: ['until'] }] : []
      default:
        return []
    }
  }

  #inOutput(node: PlanNode, output: Json, base: ValuePath): readonly SensitivePlace[] {
    switch (node.kind) {
      case 'tool':
        return marked(output, this.#plan.tools.get(node.step.tool)?.contract.output ?? {}, base)
      case 'ask':
        return marked(output, node.step.answer, base)
      case 'end':
        return node.text === undefined ? [] : this.#inTemplate(node, node.text, [...base, 'text'])
      case 'compute':
        return [...(this.#made.get(node.key) ?? [])].map((name) => ({ path: [...base, name] }))
      default:
        return []
    }
  }

  #inTemplate(node: PlanNode, { strings }: Template, base: ValuePath): readonly SensitivePlace[] {
    return strings.flatMap((string) => {
      const isHidden = (reference: Reference) => this.#isSensitive(reference.path, node)
      const references = string.parts.filter((part) => typeof part !== 'string')
      if (!references.some(isHidden)) return []
      const path = [...base, ...string.place]
      if (string.whole !== undefined) return [{ path }]
      return [{ path, mask: (text: string) => withoutReferences(string, isHidden, text) }]
    })
  }

  /** True when anything was found that is sensitive as well. */
  #followAll(): boolean {
    let isNew = false
    const note = (key: string, name: string, isSensitive: boolean): void => {
      const made = this.#made.get(key) ?? new Set()
      if (!isSensitive || made.has(name)) return
      this.#made.set(key, made.add(name))
      isNew = true
    }
    for (const node of this.#plan.nodes.values()) {
      const { each } = node.loops
      if (each !== undefined) note(node.key, 'items', this.#isMadeOf(each.list, node.parent))
      if (node.kind === 'compute') {
        for (const [name, value] of node.values) note(node.key, name, this.#isMadeOf(value, node))
      } else if (node.kind === 'end') {
        const reads = node.text?.reads ?? []
        note(
          node.key,
          'text',
          reads.some(({ path }) => this.#isSensitive(path, node)),
        )
      } else if (node.kind === 'wait' && 'evaluate' in node.until) {
        note(node.key, 'until', this.#isMadeOf(node.until, node))
      }
    }
    return isNew
  }

  #makes(stepKey: string, name?: string): boolean {
    const made = this.#made.get(stepKey)
    return made !== undefined && (name === undefined || made.has(name))
  }

  #isMadeOf({ reads }: Expression, node?: PlanNode): boolean {
    return reads.paths.some(({ path }) => this.#isSensitive(path, node))
  }

  /** Whether what a path leads to is sensitive, or holds what is. `node`: the step that reads it. */
  #isSensitive([root, ...links]: Path, node?: PlanNode): boolean {
    if (root === 'input') return marksSensitive(this.input, links)
    if (root === 'item') {
      for (let at = node; at !== undefined; at = at.parent) {
        if (at.loops.each !== undefined && this.#makes(at.key, 'items')) return true
      }
      return false
    }
    const [key, member, ...inner] = links
    if (root !== 'steps' || typeof key !== 'string') return false
    if (member === undefined || member === 'items') {
      return this.#makes(key, 'items') || this.#isOutputSensitive(key, [])
    }
    return member === 'output' && this.#isOutputSensitive(key, inner)
  }

  #isOutputSensitive(key: string, path: ValuePath): boolean {
    const node = this.#plan.nodes.get(key)
    if (node === undefined) return false
    const isList = node.loops.each !== undefined
    const links = isList && typeof path[0] === 'number' ? path.slice(1) : isList ? [] : path
    switch (node.kind) {
      case 'tool': {
        const contract = this.#plan.tools.get(node.step.tool)?.contract
        return contract !== undefined && marksSensitive(contract.output, links)
      }
      case 'ask':
        return marksSensitive(node.step.answer, links)
      case 'compute':
      case 'end':
        return this.#makes(key, links[0] === undefined ? undefined : String(links[0]))
      case 'call':
        return this.#called.get(node.step.call)?.isSensitive === true
      case 'steps':
        return node.inner.some((inside) => this.#isOutputSensitive(inside, []))
      default:
        return false
    }
  }
}

function marked(value: Json, schema: JsonSchema, base: ValuePath): readonly SensitivePlace[] {
  return sensitivePlaces(value, schema).map((path) => ({
    path: [...base, ...path],
    isMarked: true,
  }))
}

/** A text that was made from a template, with `(sensitive)` for what some of its references gave. */
function withoutReferences(
  { parts }: TemplateString,
  isHidden: (reference: Reference) => boolean,
  text: string,
): string {
  let shown = ''
  let rest = text
  let between: readonly Reference[] = []
  const take = (given: string): void => {
    shown += between.some(isHidden) ? sensitiveText : given
    between = []
  }
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'string') {
      between = [...between, part]
      continue
    }
    const isLast = index === parts.length - 1
    const at = isLast ? rest.lastIndexOf(part) : rest.indexOf(part)
    if (at < 0) return sensitiveText
    take(rest.slice(0, at))
    shown += part
    rest = rest.slice(at + part.length)
  }
  take(rest)
  return shown
}
