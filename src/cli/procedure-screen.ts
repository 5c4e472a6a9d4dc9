import type { z } from 'zod'
import { innerPlaceText, type Problem, placeText } from '../domain/problem.ts'
import type { getProcedure } from '../operations/get-procedure.ts'
import { definitionSections } from './definition-screen.ts'
import { stoppedText } from './stopped-text.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

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
        ['Proposal', version.proposalId],
        ['Stopped', stopped && stoppedText(stopped)],
      ]),
    ],
    ...definitionSections(terminal, definition).map(([title, lines]) =>
      section(terminal, title, lines),
    ),
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
