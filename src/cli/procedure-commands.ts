import type { z } from 'zod'
import { isJsonObject } from '../domain/json.ts'
import { activateVersion } from '../operations/activate-version.ts'
import { createProcedure } from '../operations/create-procedure.ts'
import { createVersion } from '../operations/create-version.ts'
import { deleteDraft } from '../operations/delete-draft.ts'
import { deprecateVersion } from '../operations/deprecate-version.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import { listProcedures } from '../operations/list-procedures.ts'
import { rollBackProcedure } from '../operations/roll-back-procedure.ts'
import { scheduleActivation } from '../operations/schedule-activation.ts'
import { setReviewBy } from '../operations/set-review-by.ts'
import type { versionState } from '../operations/version-output.ts'
import {
  type Answer,
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  pageInput,
  pageOptions,
} from './command.ts'
import { edit, placingProblems, savedAnswer } from './edit-procedure.ts'
import { usageError } from './failures.ts'
import { importProcedures } from './import-command.ts'
import { findApproval, hasErrors, nextStepLines } from './next-step.ts'
import { findingsScreen, procedureScreen } from './procedure-screen.ts'
import { type ReadScenarios, readScenarios } from './read-scenarios.ts'
import { readDocumentFile } from './read-text.ts'
import { seed } from './seed.ts'
import type { ReadText, Shell } from './shell.ts'
import { stoppedText } from './stopped-text.ts'
import { table } from './table.ts'
import { instantText } from './value-line.ts'
import { definitionText } from './version-text.ts'

const key = { usage: '<KEY>', text: 'the key of a procedure' }
const number = { usage: '<NUMBER>', text: 'the number of one of its versions' }
const documentFile = 'a definition in YAML or JSON, - for standard input'
const scenariosOption = {
  usage: '--scenarios <FILE>',
  text: 'the scenario file of the draft (a new version has those of its origin otherwise)',
}

const seenOption = {
  usage: '--seen <N>',
  text: "the version that you saw active, or 'none'; another one there is a conflict (default: the one there is)",
}
const acknowledgeOption = {
  usage: '--acknowledge <IDS>',
  text: 'findings of the routing tests that you let pass, several with commas; where approvals are needed, theirs count',
}

const list = operationCommand({
  path: 'procedures list',
  operation: listProcedures,
  options: [
    {
      usage: '--review-due',
      text: 'only those whose active version a person was to look at by now',
    },
    ...pageOptions,
  ],
  input: (given) => ({ ...pageInput(given), reviewDue: given.has('review-due') }),
  screen: ({ items, nextCursor }, terminal, given) =>
    table(
      terminal,
      ['PROCEDURE', 'NAME', 'CATEGORY', 'ACTIVE', 'NEWEST', 'DRAFTS', 'REVIEW BY', 'STOPPED'],
      items.map((item) => [
        item.procedureKey,
        item.name,
        item.category,
        item.activeVersionNumber === null ? '–' : `v${item.activeVersionNumber}`,
        `v${item.latestVersionNumber}`,
        String(item.draftCount),
        instantText(item.reviewBy)?.slice(0, 10) ?? '–',
        item.stopped === null ? '–' : stoppedText(item.stopped),
      ]),
      given.has('review-due')
        ? 'No active version is to be looked at now.'
        : "No procedures. 'stepwarden procedures seed' loads those of the demo.",
    ) + nextPageLine(terminal, nextCursor),
})

const show: Command = {
  path: 'procedures show',
  summary: getProcedure.summary,
  arguments: [
    key,
    {
      usage: '[NUMBER]',
      text: 'the number of a version (default: the active one, else the newest)',
    },
  ],
  options: [
    { usage: '--as-of <TIME>', text: 'the version that served then, instead of a number' },
    { usage: '--yaml', text: 'print the definition alone, as YAML' },
  ],
  async run(shell, given) {
    const output = await shell.call(getProcedure, {
      procedureKey: given.text('KEY'),
      versionNumber: given.number('NUMBER'),
      asOf: given.instant('as-of'),
    })
    if (!given.has('yaml')) return { output, screen: procedureScreen(shell.terminal, output) }
    shell.terminal.printRaw(definitionText(shell.parts, output.version))
    return { output, screen: '' }
  },
}

const create: Command = {
  path: 'procedures create',
  summary: createProcedure.summary,
  arguments: [{ usage: '<FILE>', text: documentFile }],
  options: [scenariosOption],
  notes:
    'What the checks find in it is shown with line and column. Errors keep a draft from going live.',
  async run(shell, given) {
    const document = await readDocumentFile(shell, given.text('FILE'))
    const { value, source } = document
    const key = isJsonObject(value) && typeof value.key === 'string' ? value.key : undefined
    const scenarios = await scenariosOf(shell, given, key)
    const saved = await placingProblems(document, () =>
      shell.call(createProcedure, {
        definition: value,
        source,
        scenarios: scenarios?.scenarios,
        scenariosSource: scenarios?.source,
      }),
    )
    return draftAnswer(shell, document, saved)
  },
}

const newVersion: Command = {
  path: 'procedures new-version',
  summary: createVersion.summary,
  arguments: [key],
  options: [
    { usage: '--from <N>', text: 'the version to copy (default: the active one, else the newest)' },
    { usage: '--file <FILE>', text: `${documentFile}, instead of a copy` },
    scenariosOption,
  ],
  async run(shell, given) {
    const [from, file] = [given.number('from'), given.find('file')]
    if (from !== undefined && file !== undefined) {
      throw usageError('--from and --file exclude each other.', 'Give one of them.')
    }
    const document = file === undefined ? undefined : await readDocumentFile(shell, file)
    const scenarios = await scenariosOf(shell, given, given.text('KEY'))
    const make = () =>
      shell.call(createVersion, {
        procedureKey: given.text('KEY'),
        fromVersionNumber: from,
        definition: document?.value,
        source: document?.source,
        scenarios: scenarios?.scenarios,
        scenariosSource: scenarios?.source,
      })
    const saved = document === undefined ? await make() : await placingProblems(document, make)
    return draftAnswer(shell, document, saved)
  },
}

const activate: Command = {
  path: 'procedures activate',
  summary: activateVersion.summary,
  arguments: [key, number],
  options: [
    seenOption,
    {
      usage: '--at <TIME>',
      text: "later, as 2026-05-03T10:00:00Z: a worker does it then, and 'procedures schedules' says what came of it",
    },
    acknowledgeOption,
  ],
  notes:
    'It must be approved as it is: see procedures review. Where the deployment asks for no approval, the audit log says so (ungoverned).',
  async run(shell, given) {
    const procedureKey = given.text('KEY')
    const seenActive = await seenBy(shell, given)
    const versionNumber = given.number('NUMBER')
    const acknowledge = given.words('acknowledge')
    const at = given.instant('at')
    const version = { procedureKey, versionNumber, seenActive, acknowledge }
    if (at !== undefined) {
      const output = await shell.call(scheduleActivation, { ...version, at })
      return { output, screen: scheduledScreen(shell, output) }
    }
    const output = await shell.call(activateVersion, version)
    return { output, screen: await activatedScreen(shell, output, seenActive) }
  },
}

const rollback: Command = {
  path: 'procedures rollback',
  summary: rollBackProcedure.summary,
  arguments: [key, { usage: '<NUMBER>', text: 'the number of a version that served before' }],
  options: [seenOption, acknowledgeOption],
  notes:
    'A copy of that version becomes the next one and serves at once. Where it may not, nothing has changed, and the message says why.',
  async run(shell, given) {
    const seenActive = await seenBy(shell, given)
    const output = await shell.call(rollBackProcedure, {
      procedureKey: given.text('KEY'),
      toVersionNumber: given.number('NUMBER'),
      seenActive,
      acknowledge: given.words('acknowledge'),
    })
    return { output, screen: await activatedScreen(shell, output, seenActive) }
  },
}

const reviewBy = operationCommand({
  path: 'procedures review-by',
  operation: setReviewBy,
  arguments: [key, number, { usage: '<TIME>', text: "until when, as 2027-05-03, or 'never'" }],
  notes: "'procedures list --review-due' lists the active versions whose time has come.",
  input: (given) => ({
    procedureKey: given.text('KEY'),
    versionNumber: given.number('NUMBER'),
    reviewBy: given.text('TIME') === 'never' ? null : given.instant('TIME'),
  }),
  screen: ({ procedureKey, versionNumber, reviewBy: until }) =>
    until === null
      ? `Nobody is asked to look at version ${versionNumber} of ${procedureKey} again.`
      : `Version ${versionNumber} of ${procedureKey} is to be looked at by ${instantText(until)}.`,
})

const deprecate = operationCommand({
  path: 'procedures deprecate',
  operation: deprecateVersion,
  arguments: [key, number],
  input: (given) => ({ procedureKey: given.text('KEY'), versionNumber: given.number('NUMBER') }),
  screen: ({ procedureKey, versionNumber }) =>
    `Version ${versionNumber} of ${procedureKey} is deprecated; nothing serves the procedure now.`,
})

const remove = operationCommand({
  path: 'procedures delete',
  operation: deleteDraft,
  arguments: [key, { usage: '<NUMBER>', text: 'the number of a draft' }],
  input: (given) => ({ procedureKey: given.text('KEY'), versionNumber: given.number('NUMBER') }),
  screen: ({ procedureKey, versionNumber }) =>
    `Draft ${versionNumber} of ${procedureKey} is deleted; its number is not given again.`,
})

export const procedureCommands: readonly Command[] = [
  list,
  show,
  create,
  edit,
  newVersion,
  activate,
  rollback,
  deprecate,
  reviewBy,
  remove,
  importProcedures,
  seed,
]

/** When a version is to go live, who carries that out, and how it is taken back. */
function scheduledScreen(
  { config }: Shell,
  schedule: z.infer<typeof scheduleActivation.output>,
): string {
  const { procedureKey, versionNumber, at, seenActive, scheduleId } = schedule
  const by =
    'dataDir' in config.database
      ? "On a data folder 'stepwarden worker' or 'serve' does that, or the first command after that time which runs playbooks"
      : "A 'stepwarden worker' that runs then does that"
  const over = seenActive === null ? 'where nothing serves now' : `over version ${seenActive}`
  return [
    `Version ${versionNumber} of ${procedureKey} goes live at ${instantText(at)}, as it is now, ${over}.`,
    `${by}. 'stepwarden procedures unschedule ${scheduleId}' takes it back.`,
  ].join('\n')
}

/** The answer of a command that has made a draft. */
async function draftAnswer(
  shell: Shell,
  document: ReadText | undefined,
  saved: z.infer<typeof versionState>,
): Promise<Answer> {
  const approval = await findApproval(shell, saved)
  const next =
    approval === undefined || hasErrors(saved.findings) ? [] : nextStepLines(shell, approval)
  return savedAnswer(shell, { document, saved, what: 'is there, as a draft', next })
}

/** What an activation has changed, and what the checks have to say of it. */
async function activatedScreen(
  shell: Shell,
  { procedureKey, versionNumber, findings }: z.infer<typeof activateVersion.output>,
  seenActive: number | null,
): Promise<string> {
  const { terminal } = shell
  const { stopped } = await shell.call(getProcedure, { procedureKey })
  return [
    `Version ${versionNumber} of ${procedureKey} serves from now on.`,
    ...(stopped === null ? [] : [terminal.style('care', stillStoppedText(stopped))]),
    ...(seenActive === null ? [] : [`Version ${seenActive} is deprecated.`]),
    ...(findings.length === 0 ? [] : [findingsScreen(terminal, findings)]),
  ].join('\n')
}

function stillStoppedText(stopped: Parameters<typeof stoppedText>[0]): string {
  return `It is stopped all the same, ${stoppedText(stopped)}. Nothing starts before an approver lifts that with 'stepwarden procedures allow ${stopped.name}'.`
}

/** The scenarios in the file that was given, if one was. */
async function scenariosOf(
  shell: Shell,
  given: Given,
  procedureKey: string | undefined,
): Promise<ReadScenarios | undefined> {
  const file = given.find('scenarios')
  return file === undefined ? undefined : readScenarios(shell, file, procedureKey)
}

/** The number of the version that the person saw serving, or null for none; without a word of theirs it is looked up. */
async function seenBy(shell: Shell, given: Given): Promise<number | null> {
  const seen = given.find('seen')
  if (seen === 'none') return null
  if (seen !== undefined) return given.number('seen') ?? null
  const procedureKey = given.text('KEY')
  const { versions } = await shell.call(getProcedure, { procedureKey })
  return versions.find(({ status }) => status === 'active')?.versionNumber ?? null
}
