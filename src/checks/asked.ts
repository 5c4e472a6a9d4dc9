import type { Condition } from '../domain/step.ts'
import type { DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import { loopsAround, type StepEntry } from './step-table.ts'

/** Notes of every expression and template of a definition until where it is evaluated. */
export function noteAll(check: DefinitionCheck): void {
  const { definition, table, liveness } = check
  const lastTool = new Map<string, number>()
  for (const entry of table.values()) {
    noteStep(check, entry)
    if (!('tool' in entry.step)) continue
    for (const required of check.findContract(entry.step.tool)?.requires ?? []) {
      lastTool.set(required, lastPlace(entry))
    }
  }
  for (const { step } of table.values()) {
    const last = 'tool' in step ? lastTool.get(step.tool) : undefined
    if (last !== undefined) liveness.noteStep(step.key, last)
  }
  noteConditions(check, definition.preconditions, ['preconditions'], 0)
  noteConditions(check, definition.completionConditions, ['completionConditions'], end)
  for (const [index, rule] of (definition.escalationRules ?? []).entries()) {
    if (rule.when === undefined) continue
    const path = ['escalationRules', index, 'when']
    note(check, rule.when, path, lastDue(check, rule.when, path))
  }
  for (const [name, source] of Object.entries(definition.output ?? {})) {
    note(check, source, ['output', name], end)
  }
}

const end = Number.POSITIVE_INFINITY

/** A round of a loop is followed by another one, in which all is asked again. */
function lastPlace(entry: StepEntry): number {
  return Math.max(entry.place, ...loopsAround(entry).map(({ last }) => last))
}

/** The place of the last step after which a rule is tested. */
function lastDue(check: DefinitionCheck, source: string, path: Path): number {
  const reads = check.parsed(source, path)?.reads
  if (reads === undefined || reads.now) return end
  return Math.max(0, ...[...reads.steps].map((key) => check.table.get(key)?.last ?? 0))
}

function noteStep(check: DefinitionCheck, entry: StepEntry): void {
  const { step, path } = entry
  const here = lastPlace(entry)
  const expression = (source: string | undefined, at: Path, place = here, own?: string): void => {
    if (source !== undefined) note(check, source, [...path, ...at], place, own)
  }
  const template = (value: Parameters<DefinitionCheck['parsedTemplate']>[0], at: Path): void => {
    for (const read of check.parsedTemplate(value, [...path, ...at])?.reads ?? []) {
      check.liveness.notePath(read.path, here)
    }
  }
  expression(step.when, ['when'])
  if ('forEach' in step) expression(step.forEach, ['forEach'])
  if ('tool' in step) {
    template(step.with ?? {}, ['with'])
    expression(step.expect, ['expect'], here, step.key)
    expression(step.poll?.until, ['poll', 'until'], here, step.key)
  } else if ('compute' in step) {
    for (const [name, source] of Object.entries(step.compute)) expression(source, ['compute', name])
  } else if ('require' in step) {
    noteConditions(check, step.require, [...path, 'require'], here)
  } else if ('choose' in step) {
    for (const [index, { when }] of step.choose.entries()) {
      expression(when, ['choose', index, 'when'])
    }
  } else if ('steps' in step) {
    expression(step.repeat?.until, ['repeat', 'until'], Math.max(here, entry.last))
  } else if ('ask' in step) template(step.message, ['message'])
  else if ('approval' in step) template(step.show, ['show'])
  else if ('call' in step) template(step.with ?? {}, ['with'])
  else if ('wait' in step) {
    if ('until' in step.wait) expression(step.wait.until, ['wait', 'until'])
  } else if (step.text !== undefined) template(step.text, ['text'])
}

function noteConditions(
  check: DefinitionCheck,
  conditions: readonly Condition[] | undefined,
  path: Path,
  place: number,
): void {
  for (const [index, { when, say }] of (conditions ?? []).entries()) {
    if (when !== undefined) note(check, when, [...path, index, 'when'], place)
    if (say === undefined) continue
    for (const read of check.parsedTemplate(say, [...path, index, 'say'])?.reads ?? []) {
      check.liveness.notePath(read.path, place)
    }
  }
}

function note(
  check: DefinitionCheck,
  source: string,
  path: Path,
  place: number,
  own?: string,
): void {
  const expression = check.parsed(source, path)
  if (expression !== undefined) check.liveness.noteExpression(expression.node, place, own)
}
