import type { Definition } from '../domain/definition.ts'
import type { Json } from '../domain/json.ts'
import { type Choice, type Condition, type Step, stepKind } from '../domain/step.ts'
import type { Terminal } from './terminal.ts'
import { valueLine } from './value-line.ts'

/** A part of a definition under its heading, as lines. */
type Section = readonly [title: string, lines: readonly string[]]

/**
 * All that a definition says, for whoever is to approve it: what has no form of its own is shown by its name. The name, what
 * it is about and whom it is for are left to the head of the screen.
 */
export function definitionSections(terminal: Terminal, definition: Definition): readonly Section[] {
  const {
    key: _key,
    name: _name,
    description: _description,
    category: _category,
    issuePatterns: _issuePatterns,
    successCriteria: _successCriteria,
    input,
    policy,
    preconditions,
    steps,
    completionConditions,
    escalationRules,
    output,
    replies,
    ...others
  } = definition
  return [
    ['Input', inputLines(terminal, input)],
    ['Policy', memberLines(terminal, policy, '  ')],
    ['Preconditions', conditionLines(terminal, preconditions, '  ')],
    ['Steps', stepLines(terminal, steps, '')],
    ['Done when', conditionLines(terminal, completionConditions, '  ')],
    ['Escalate when', conditionLines(terminal, escalationRules, '  ')],
    ['Result', memberLines(terminal, output, '  ')],
    ['Replies', memberLines(terminal, replies, '  ')],
    ['Besides', memberLines(terminal, others, '  ')],
  ]
}

function inputLines(terminal: Terminal, input: Definition['input']): readonly string[] {
  const { properties, required: needs, type: _object, ...others } = Object(input)
  const required: readonly unknown[] = Array.isArray(needs) ? needs : []
  const lines = Object.entries(Object(properties)).map(([name, schema]) => {
    const { type, description, ...limits } = Object(schema)
    const needed = required.includes(name) ? 'required' : 'optional'
    const about = typeof description === 'string' ? `: ${description}` : ''
    const kind = typeof type === 'string' ? `${type}, ` : ''
    const more = Object.keys(limits).length === 0 ? '' : `  ${quiet(terminal, valueLine(limits))}`
    return `  ${terminal.wrap(`${name} (${kind}${needed})${about}${more}`, 4)}`
  })
  return [...lines, ...memberLines(terminal, others, '  ')]
}

/** The steps as a tree: number, key and kind, what it does, and below it its other members and the steps of its branches. */
function stepLines(terminal: Terminal, steps: readonly Step[], indent: string): readonly string[] {
  return steps.flatMap((step, index) => {
    const guard = step.when === undefined ? '' : `  when ${step.when}`
    const head = `${indent}  ${String(index + 1).padStart(2)}  ${terminal.style('name', step.key)}`
    return [
      `${head}  ${step.action}  ${quiet(terminal, `${kindText(step)}${guard}`)}`,
      ...branchLines(terminal, step, `${indent}      `),
    ]
  })
}

function branchLines(terminal: Terminal, step: Step, indent: string): readonly string[] {
  const lines: string[] = [...memberLines(terminal, plainMembers(step), indent)]
  const branch = (title: string, when: string, steps: readonly Step[]) => {
    lines.push(`${indent}${title}  ${quiet(terminal, when)}`.trimEnd())
    lines.push(...stepLines(terminal, steps, indent))
  }
  if ('require' in step) lines.push(...conditionLines(terminal, step.require, indent))
  if ('choose' in step) {
    for (const { text, when, steps } of step.choose satisfies readonly Choice[])
      branch(`${text}:`, when, steps)
  }
  if ('steps' in step) lines.push(...stepLines(terminal, step.steps, indent))
  if ('otherwise' in step) {
    if (typeof step.otherwise === 'string') lines.push(`${indent}otherwise: ${step.otherwise}`)
    else if (step.otherwise !== undefined) branch('otherwise:', '', step.otherwise)
  }
  return lines
}

/** What stands neither in the line of a step nor in its branches: its input, time-out, retries, and all others. */
function plainMembers(step: Step): object {
  const shown = ['key', 'action', 'when', 'require', 'choose', 'steps', 'otherwise']
  const inHead = ['tool', 'ask', 'approval', 'call', 'wait', 'end']
  return Object.fromEntries(
    Object.entries(step).filter(([name]) => !shown.includes(name) && !inHead.includes(name)),
  )
}

/** Each member in a line, by the name that the document has for it. */
function memberLines(
  terminal: Terminal,
  members: object | undefined = {},
  indent: string,
): readonly string[] {
  return Object.entries(members).map(([name, value]: [string, Json]) => {
    const text = terminal.wrap(valueLine(value), indent.length + name.length + 2)
    return `${indent}${quiet(terminal, `${name}:`)} ${text}`
  })
}

function conditionLines(
  terminal: Terminal,
  conditions: readonly Condition[] = [],
  indent: string,
): readonly string[] {
  return conditions.flatMap(({ text, when, ...others }) => [
    `${indent}${text}  ${quiet(terminal, when ?? 'not enforced')}`,
    ...memberLines(terminal, others, `${indent}    `),
  ])
}

function kindText(step: Step): string {
  if ('tool' in step) return `tool ${step.tool}`
  if ('ask' in step) return `ask ${step.ask}`
  if ('approval' in step) return `approval by ${step.approval}`
  if ('call' in step) return `call ${step.call}`
  if ('wait' in step) return `wait ${valueLine({ ...step.wait })}`
  if ('end' in step) return `end ${step.end}`
  return stepKind(step)
}

function quiet(terminal: Terminal, text: string): string {
  return terminal.style('quiet', text)
}
