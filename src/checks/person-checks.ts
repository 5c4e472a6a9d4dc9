import { type Duration, parseDuration } from '../domain/duration.ts'
import { suggestion } from '../domain/expression/suggestion.ts'
import { typeOfSchema } from '../domain/expression.ts'
import type { ApprovalStep, AskStep } from '../domain/step.ts'
import type { DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import type { StepEntry } from './step-table.ts'

export function checkAsk(check: DefinitionCheck, step: AskStep, path: Path): void {
  checkDeadline(check, step.deadline, path)
  checkReminder(check, [...path, 'remind'], step.remind, step.deadline)
  if (typeOfSchema(step.answer).kind === 'any') {
    const message = 'the answer can be anything, because its schema says nothing; give it a type'
    check.add('untyped', [...path, 'answer'], message)
  }
}

export function checkApproval(check: DefinitionCheck, entry: StepEntry, step: ApprovalStep): void {
  const { path } = entry
  checkDeadline(check, step.deadline, path)
  const shown = check.parsedTemplate(step.show, [...path, 'show'])
  if (shown?.reads.length === 0) {
    const message =
      'what is shown names nothing of the case, so every yes looks the same; show what is to be done, such as {{input.amount}}'
    check.add('approval-shows-nothing', [...path, 'show'], message)
  }
  for (const [index, key] of (step.notBy ?? []).entries()) {
    const at = [...path, 'notBy', index]
    const named = check.table.get(key)
    const people = [...check.table.values()].filter(
      (one) => ('ask' in one.step || 'approval' in one.step) && one.place < entry.place,
    )
    if (named !== undefined && people.includes(named)) continue
    const hint = suggestion(
      key,
      people.map((one) => one.step.key),
    )
    const found =
      named === undefined
        ? `there is no step '${key}'`
        : named.place >= entry.place
          ? `'${key}' is not before this step`
          : `'${key}' is done by no person`
    check.add('not-by', at, `${found}; name an ask or approval before this step: ${hint}`)
  }
}

/** A reminder must come before what it reminds of, as far as that can be told without a calendar. */
export function checkReminder(
  check: DefinitionCheck,
  path: Path,
  reminder: string | undefined,
  deadline: string | undefined,
): void {
  const [first, last] = [reminder, deadline].map((text) =>
    text === undefined ? undefined : parseDuration(text),
  )
  if (first === undefined || last === undefined || !isCertainlyLate(first, last)) return
  const message = `${reminder} is not before ${deadline}, so it never comes in time; make it shorter`
  check.add('reminder-late', path, message)
}

const dayMs = 86_400_000

function isCertainlyLate(reminder: Duration, deadline: Duration): boolean {
  if ('ms' in deadline) {
    // A working day ends a day later at the soonest.
    return ('ms' in reminder ? reminder.ms : reminder.workdays * dayMs) >= deadline.ms
  }
  return 'workdays' in reminder && reminder.workdays >= deadline.workdays
}

function checkDeadline(check: DefinitionCheck, deadline: string | undefined, path: Path): void {
  if (deadline !== undefined) return
  const message =
    "without a 'deadline' a run may wait for ever, and nobody is told; give it one, with 'onDeadline' for what follows"
  check.add('no-deadline', path, message)
}
