import type { z } from 'zod'
import type { Finding } from '../domain/finding.ts'
import { createProcedure } from '../operations/create-procedure.ts'
import { createVersion } from '../operations/create-version.ts'
import { editDraft } from '../operations/edit-draft.ts'
import { listProcedures } from '../operations/list-procedures.ts'
import type { versionState } from '../operations/version-output.ts'
import type { Command } from './command.ts'
import { diffScreen } from './diff-screen.ts'
import { usageError } from './failures.ts'
import { findApproval, hasErrors, nextStepLines, tellingEnded } from './next-step.ts'
import { type PlaybookPlan, planPlaybook } from './plan-playbook.ts'
import { findingsScreen } from './procedure-screen.ts'
import { readPlaybooks } from './read-playbooks.ts'
import type { Shell } from './shell.ts'
import type { Terminal } from './terminal.ts'
import { countText } from './value-line.ts'

export const apply: Command = {
  path: 'apply',
  summary: 'Make drafts of the procedures that a folder keeps as YAML',
  options: [
    { usage: '-f, --folder <DIR>', text: 'the folder of definitions and scenario files' },
    { usage: '--plan', text: 'say what it would do, with the differences, and write nothing' },
  ],
  notes: [
    'Nothing goes live by it. What a version says already is left as it is, so doing it again changes nothing.',
    'When one of the files has a mistake nothing is written at all (exit code 2). docs/gitops.md has the layout.',
  ].join('\n'),
  async run(shell, given) {
    const { terminal } = shell
    const isPlan = given.has('plan')
    const folder = folderOf(given.find('folder'))
    const playbooks = await readPlaybooks(shell, folder)
    const plans: PlaybookPlan[] = []
    for (const playbook of playbooks) plans.push(await planPlaybook(shell, playbook))
    const notInFolder = await listOthers(shell, plans)
    const procedures: object[] = []
    for (const plan of plans) {
      const { saved, lines } = isPlan ? planned : await carryOut(shell, plan)
      const findings = plan.playbook.document.locate(saved?.findings ?? [])
      procedures.push(outputOf(plan, saved, findings))
      terminal.print([screenOf(terminal, plan, saved, findings), ...lines].join('\n'))
    }
    return {
      output: { folder, isPlan, procedures, notInFolder },
      screen: [
        ...(notInFolder.length === 0
          ? []
          : [`Not in the folder, and left as they are: ${notInFolder.join(', ')}.`]),
        `${countsText(plans)} ${isPlan ? 'Nothing was written.' : 'Nothing goes live by it.'}`,
      ].join('\n'),
    }
  },
}

/** @throws ServiceError `USAGE_INVALID` when no folder was named. */
export function folderOf(folder: string | undefined): string {
  if (folder !== undefined && folder !== '') return folder
  throw usageError('No folder was named.', 'Name it with -f DIR.')
}

type Saved = z.infer<typeof versionState>

const planned = { saved: undefined, lines: [] }

interface CarriedOut {
  readonly saved: Saved | undefined
  /** What that has ended, and what is to be done next. */
  readonly lines: readonly string[]
}

async function carryOut(shell: Shell, plan: PlaybookPlan): Promise<CarriedOut> {
  const procedureKey = plan.playbook.definition.key
  const versionNumber = plan.version?.versionNumber
  if (plan.result === 'edited' && versionNumber !== undefined) {
    return tellingEnded(
      shell,
      { procedureKey, versionNumber },
      () => save(shell, plan),
      (saved) => saved?.findings ?? [],
    )
  }
  const saved = await save(shell, plan)
  const approval =
    saved && !hasErrors(saved.findings) ? await findApproval(shell, saved) : undefined
  return { saved, lines: approval === undefined ? [] : nextStepLines(shell, approval) }
}

async function save(shell: Shell, plan: PlaybookPlan): Promise<Saved | undefined> {
  const { playbook, result, version } = plan
  const { document, definition, scenarioFile } = playbook
  const procedureKey = definition.key
  const content = {
    definition: document.value,
    source: document.source,
    scenarios: scenarioFile?.scenarios,
    scenariosSource: scenarioFile?.document.source,
  }
  switch (result) {
    case 'created':
      return shell.call(createProcedure, content)
    case 'new-version':
      return shell.call(createVersion, { procedureKey, ...content })
    case 'edited':
      return shell.call(editDraft, {
        procedureKey,
        versionNumber: version?.versionNumber,
        // Whoever has edited it since the comparison is not overwritten.
        revision: version?.revision,
        ...content,
      })
    case 'unchanged':
      return undefined
    default:
      return result satisfies never
  }
}

/** Keys of the procedures that the folder has no files of. */
async function listOthers(
  shell: Shell,
  plans: readonly PlaybookPlan[],
): Promise<readonly string[]> {
  const here = new Set(plans.map(({ playbook }) => playbook.definition.key))
  return (await listKeys(shell)).filter((key) => !here.has(key))
}

/** The keys of all procedures, in order. */
export async function listKeys(shell: Shell): Promise<readonly string[]> {
  const keys: string[] = []
  let cursor: string | null = null
  do {
    const page: z.infer<typeof listProcedures.output> = await shell.call(listProcedures, {
      limit: 200,
      ...(cursor !== null && { cursor }),
    })
    keys.push(...page.items.map(({ procedureKey }) => procedureKey))
    cursor = page.nextCursor
  } while (cursor !== null)
  return keys
}

function outputOf(
  plan: PlaybookPlan,
  saved: Saved | undefined,
  findings: readonly Finding[],
): object {
  const { playbook, result, version, changes, isTextAlone, otherDraft } = plan
  // A number is given when a draft is made, and not promised before.
  const isNew = result === 'created' || result === 'new-version'
  return {
    procedureKey: playbook.definition.key,
    file: playbook.file,
    scenarioFile: playbook.scenarioFile?.file ?? null,
    result,
    versionNumber: saved?.versionNumber ?? (isNew ? null : (version?.versionNumber ?? null)),
    revision: saved?.revision ?? (isNew ? null : (version?.revision ?? null)),
    fromVersionNumber: version?.versionNumber ?? null,
    changes,
    isTextAlone,
    otherDraft,
    findings,
  }
}

function screenOf(
  terminal: Terminal,
  plan: PlaybookPlan,
  saved: Saved | undefined,
  findings: readonly Finding[],
): string {
  const { playbook, changes, otherDraft } = plan
  const { file, scenarioFile, definition } = playbook
  const files = [file, ...(scenarioFile === undefined ? [] : [scenarioFile.file])].join(', ')
  return [
    `${terminal.style('heading', definition.key)}  ${resultText(plan, saved)}  ${terminal.style('quiet', files)}`,
    ...(changes.length === 0 ? [] : [diffScreen(terminal, changes, 2)]),
    ...(otherDraft === null
      ? []
      : [`  Draft ${otherDraft} says something else, and is left alone.`]),
    ...(findings.length === 0 ? [] : [findingsScreen(terminal, findings, true)]),
  ].join('\n')
}

function resultText(
  { result, version, isTextAlone }: PlaybookPlan,
  saved: Saved | undefined,
): string {
  const number = version?.versionNumber
  switch (result) {
    case 'created':
      return saved === undefined ? 'new procedure' : 'new procedure, draft 1'
    case 'new-version': {
      const draft = saved === undefined ? 'new draft' : `new draft ${saved.versionNumber}`
      return number === undefined ? draft : `${draft}, after version ${number}`
    }
    case 'edited': {
      const what = isTextAlone ? ', comments and layout alone' : ''
      const to = saved === undefined ? '' : `, now at revision ${saved.revision}`
      return `edits draft ${number}${what}${to}`
    }
    case 'unchanged':
      return `unchanged: version ${number}, ${version?.status}, says the same`
    default:
      return result satisfies never
  }
}

function countsText(plans: readonly PlaybookPlan[]): string {
  const of = (result: PlaybookPlan['result']) =>
    plans.filter((plan) => plan.result === result).length
  return `${countText(of('created'), 'new procedure')}, ${countText(of('new-version'), 'new draft')}, ${countText(of('edited'), 'edited draft')}, ${of('unchanged')} unchanged.`
}
