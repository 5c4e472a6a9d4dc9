import type { z } from 'zod'
import { innerPlaceText, type Problem, placeText } from '../domain/problem.ts'
import type { Choice, Condition, Step } from '../domain/step.ts'
import { stepKind } from '../domain/step.ts'
import type { getProcedure } from '../operations/get-procedure.ts'
import { stoppedText } from './stopped-text.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText, valueLine } from './value-line.ts'

type Finding = Problem & {
  readonly rule: string
  readonly severity: 'error' | 'warning'
  readonly id?: string | undefined
}
type Shown = z.infer<typeof getProcedure.output>

/** A procedure whole: one version as people read it, then all its versions and when each served. */
export function procedureScreen(
  terminal: Terminal,
  { version, stopped, versions, activations }: Shown,
): string {
  const { definition } = version
  const sections = [
    [
      `${terminal.style('heading', definition.key)}  version ${version.versionNumber}, ${version.status}`,
      fields(terminal, [
        ['Name', definition.name],
        ['About', definition.description],
        ['Category', version.category],
        ['Use for', definition.issuePatterns?.join('; ')],
        ['Success', definition.successCriteria],
        ['Hash', version.definitionHash],
        ['Revision', String(version.revision)],
        ['Review by', instantText(version.reviewBy)],
        ['Stopped', stopped && stoppedText(stopped)],
      ]),
    ],
    section(terminal, 'Input', inputLines(terminal, definition.input)),
    section(terminal, 'Preconditions', conditionLines(terminal, definition.preconditions)),
    section(terminal, 'Steps', stepLines(terminal, definition.steps, '')),
    section(terminal, 'Done when', conditionLines(terminal, definition.completionConditions)),
    section(terminal, 'Escalate when', conditionLines(terminal, definition.escalationRules)),
    section(
      terminal,
      'Findings',
      version.findings.map((found) => findingLine(terminal, found)),
    ),
    [
      terminal.style('heading', 'Versions'),
      table(
        terminal,
        ['VERSION', 'STATUS', 'REVISION', 'CHANGED', 'HASH'],
        versions.map((item) => [
          String(item.versionNumber),
          item.status,
          String(item.revision),
          instantText(item.updatedAt) ?? '',
          item.definitionHash.slice(0, 12),
        ]),
        'none',
      ),
    ],
    section(
      terminal,
      'Served',
      activations.map(
        ({ versionNumber, activeFrom, activeUntil }) =>
          `  version ${versionNumber} from ${instantText(activeFrom)} ${activeUntil === null ? 'on' : `until ${instantText(activeUntil)}`}`,
      ),
    ),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/**
 * What a version's checks found: how many, each in a line, and what that means for its activation. `isInFile`: their places
 * are those in a file, and not within the expression at the path.
 */
export function findingsScreen(
  terminal: Terminal,
  findings: readonly Finding[],
  isInFile = false,
): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  if (findings.length === 0) return `${terminal.style('good', '✓')} The checks found nothing.`
  const counts = [
    ...(errors > 0 ? [countText(errors, 'error')] : []),
    ...(warnings > 0 ? [countText(warnings, 'warning')] : []),
  ]
  const meaning = errors > 0 ? '; it cannot go live before the errors are gone' : ''
  return [
    `The checks found ${counts.join(' and ')}${meaning}:`,
    ...findings.map((finding) => findingLine(terminal, finding, isInFile)),
  ].join('\n')
}

function findingLine(terminal: Terminal, finding: Finding, isInFile = false): string {
  const { severity, rule, path, message } = finding
  const place = isInFile ? placeText(finding) : innerPlaceText(finding)
  const lead = terminal.style(severity === 'error' ? 'bad' : 'care', severity)
  const where = path === '' ? '' : `${path}: `
  return `  ${lead} ${terminal.wrap(`${where}${message}${place} [${finding.id ?? rule}]`, 10)}`
}

function section(terminal: Terminal, title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [terminal.style('heading', title), ...lines]
}

function inputLines(
  terminal: Terminal,
  input: Shown['version']['definition']['input'],
): readonly string[] {
  const properties = Object.entries(Object(input?.properties))
  const required: readonly unknown[] = Array.isArray(input?.required) ? input.required : []
  return properties.map(([name, schema]) => {
    const { type, description } = Object(schema)
    const needed = required.includes(name) ? 'required' : 'optional'
    const about = typeof description === 'string' ? `: ${description}` : ''
    const kind = typeof type === 'string' ? `${type}, ` : ''
    return `  ${terminal.wrap(`${name} (${kind}${needed})${about}`, 4)}`
  })
}

function conditionLines(
  terminal: Terminal,
  conditions: readonly Condition[] = [],
): readonly string[] {
  return conditions.map(
    ({ text, when }) => `  ${text}  ${terminal.style('quiet', when ?? 'not enforced')}`,
  )
}

/** The steps as a tree: number, key and kind, what it does, and below it the steps of its branches. */
function stepLines(terminal: Terminal, steps: readonly Step[], indent: string): readonly string[] {
  return steps.flatMap((step, index) => {
    const guard = step.when === undefined ? '' : `  when ${step.when}`
    const head = `${indent}  ${String(index + 1).padStart(2)}  ${terminal.style('name', step.key)}`
    return [
      `${head}  ${step.action}  ${terminal.style('quiet', `${kindText(step)}${guard}`)}`,
      ...branchLines(terminal, step, `${indent}      `),
    ]
  })
}

function branchLines(terminal: Terminal, step: Step, indent: string): readonly string[] {
  const lines: string[] = []
  const branch = (title: string, when: string, steps: readonly Step[]) => {
    lines.push(`${indent}${title}  ${terminal.style('quiet', when)}`.trimEnd())
    lines.push(...stepLines(terminal, steps, indent))
  }
  if ('require' in step)
    lines.push(...step.require.map((one) => conditionLine(terminal, one, indent)))
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

function conditionLine(terminal: Terminal, { text, when }: Condition, indent: string): string {
  return `${indent}${text}  ${terminal.style('quiet', when ?? 'not enforced')}`
}

function kindText(step: Step): string {
  if ('tool' in step) return `tool ${step.tool}`
  if ('compute' in step) return `compute ${Object.keys(step.compute).join(', ')}`
  if ('ask' in step) return `ask ${step.ask}`
  if ('approval' in step) return `approval by ${step.approval}`
  if ('call' in step) return `call ${step.call}`
  if ('wait' in step) return `wait ${valueLine({ ...step.wait })}`
  if ('end' in step) return `end ${step.end}`
  return stepKind(step)
}
