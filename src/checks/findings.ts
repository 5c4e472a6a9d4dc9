import type { Finding } from '../domain/finding.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import { type RuleId, rules } from './rules.ts'

export type Path = readonly (string | number)[]

/** A place inside the text of an expression or template. */
export type Position = Pick<Problem, 'line' | 'column'>

/** The fields of a definition in the order of the document, in which findings are told. */
const fieldOrder = [
  'key',
  'name',
  'description',
  'category',
  'issuePatterns',
  'examples',
  'input',
  'policy',
  'preconditions',
  'steps',
  'completionConditions',
  'escalationRules',
  'escalateTo',
  'due',
  'output',
  'replies',
]

/** Findings of one rule beyond these are counted, not told: nobody mends more at a time. */
const maxOfRule = 100

/** Gathers findings, each once, and gives them in the order of the document. */
export class Findings {
  readonly #found = new Map<string, { readonly finding: Finding; readonly path: Path }>()
  readonly #counts = new Map<RuleId, number>()

  /** `inner` is the rest of the path, as text, where the problem lies within the value there. */
  add(rule: RuleId, path: Path, message: string, position: Position = {}, inner = ''): void {
    const place = joinPaths(pathText(path), inner)
    const finding = { rule, severity: rules[rule].severity, path: place, message }
    const { line, column } = position
    const key = [rule, finding.path, line, column, line === undefined ? message : ''].join('\n')
    if (this.#found.has(key)) return
    const count = (this.#counts.get(rule) ?? 0) + 1
    this.#counts.set(rule, count)
    if (count > maxOfRule) return
    this.#found.set(key, {
      finding: { ...finding, ...(line !== undefined && { line, column }) },
      path,
    })
  }

  /** How many there are by now. */
  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  inOrder(): readonly Finding[] {
    const told = [...this.#found.values()]
      .sort((a, b) => comparePaths(a.path, b.path))
      .map(({ finding }) => finding)
    for (const [rule, count] of this.#counts) {
      if (count <= maxOfRule) continue
      const message = `and ${count - maxOfRule} more findings of this rule; mend those above first`
      told.push({ rule, severity: rules[rule].severity, path: '', message })
    }
    return told
  }
}

/** By field, then by the entry of its list; what is found within one entry keeps the order of the walk. */
function comparePaths([a = '', atA]: Path, [b = '', atB]: Path): number {
  const byField = placeOf(a) - placeOf(b)
  return byField !== 0 || typeof atA !== 'number' || typeof atB !== 'number' ? byField : atA - atB
}

function placeOf(field: string | number): number {
  const place = fieldOrder.indexOf(String(field))
  return place < 0 ? fieldOrder.length : place
}

function joinPaths(path: string, rest: string): string {
  return path === '' || rest === '' || rest.startsWith('[') ? `${path}${rest}` : `${path}.${rest}`
}
