import type { Change } from '../diff/change.ts'
import { isServiceError } from '../domain/errors.ts'
import { diffVersions } from '../operations/diff-versions.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import { listScenarios } from '../operations/list-scenarios.ts'
import type { PlaybookFile } from './read-playbooks.ts'
import type { Shell } from './shell.ts'
import { definitionText, scenariosText } from './version-text.ts'

/** What is to be done so that a procedure has a draft, or an active version, that says what its files say. */
export interface PlaybookPlan {
  readonly playbook: PlaybookFile
  /**
   * `created`: a new procedure. `new-version`: the next draft. `edited`: another revision of the newest draft.
   * `unchanged`: the newest draft says it, or the version that serves.
   */
  readonly result: 'created' | 'new-version' | 'edited' | 'unchanged'
  /** The version that is compared, edited or left; null where there is none. */
  readonly version: SeenVersion | null
  /** In what the files differ from it. */
  readonly changes: readonly Change[]
  /** True when a draft says the same in other words: comments and layout. */
  readonly isTextAlone: boolean
  /** The number of a newer draft that says something else, and is left alone. */
  readonly otherDraft: number | null
}

interface SeenVersion {
  readonly versionNumber: number
  readonly status: 'draft' | 'active' | 'deprecated'
  readonly revision: number
}

/** Compares the files of a procedure with what is stored of it. Nothing is written. */
export async function planPlaybook(shell: Shell, playbook: PlaybookFile): Promise<PlaybookPlan> {
  const versions = await findVersions(shell, playbook.definition.key)
  const plan = { playbook, changes: [], isTextAlone: false, otherDraft: null }
  if (versions === undefined) return { ...plan, result: 'created', version: null }
  const active = versions.find(({ status }) => status === 'active')
  const newest = versions[0]
  const basis = newest?.status === 'draft' ? newest : (active ?? newest)
  if (basis === undefined) return { ...plan, result: 'new-version', version: null }
  const changes = await findChanges(shell, playbook, basis.versionNumber)
  if (basis.status !== 'draft') {
    const result = isSaid(changes) ? 'unchanged' : 'new-version'
    return { ...plan, result, version: basis, changes }
  }
  if (isSaid(changes)) {
    const isTextAlone = !(await isSameText(shell, playbook, basis.versionNumber))
    return {
      ...plan,
      result: isTextAlone ? 'edited' : 'unchanged',
      version: basis,
      changes,
      isTextAlone,
    }
  }
  // Whose files say what serves has no use for the draft, which may be somebody else's work.
  if (active !== undefined) {
    const ofActive = await findChanges(shell, playbook, active.versionNumber)
    if (isSaid(ofActive)) {
      const otherDraft = basis.versionNumber
      return { ...plan, result: 'unchanged', version: active, changes: ofActive, otherDraft }
    }
  }
  return { ...plan, result: 'edited', version: basis, changes }
}

/**
 * Whether a version says what the files say. A tool that has changed since is told of, but makes no draft: which tools
 * there are depends on the machine that looks.
 */
function isSaid(changes: readonly Change[]): boolean {
  return changes.every(({ of }) => of === 'tool')
}

/** All versions, newest first; undefined when there is no such procedure. */
async function findVersions(
  shell: Shell,
  procedureKey: string,
): Promise<readonly SeenVersion[] | undefined> {
  try {
    return (await shell.call(getProcedure, { procedureKey })).versions
  } catch (error) {
    if (isServiceError(error, 'PROCEDURE_NOT_FOUND')) return undefined
    // All its drafts were deleted.
    if (isServiceError(error, 'VERSION_NOT_FOUND')) return []
    throw error
  }
}

async function findChanges(
  shell: Shell,
  { document, definition, scenarioFile }: PlaybookFile,
  fromVersionNumber: number,
): Promise<readonly Change[]> {
  const { changes } = await shell.call(diffVersions, {
    procedureKey: definition.key,
    fromVersionNumber,
    definition: document.value,
    scenarios: scenarioFile?.scenarios,
  })
  return changes
}

/** Whether an export would write the files as they are. */
async function isSameText(
  shell: Shell,
  { document, definition, scenarioFile }: PlaybookFile,
  versionNumber: number,
): Promise<boolean> {
  const { parts } = shell
  const asked = { procedureKey: definition.key, versionNumber }
  const { version } = await shell.call(getProcedure, asked)
  const { source } = document
  if (source !== undefined && source !== definitionText(parts, version)) return false
  const scenariosSource = scenarioFile?.document.source
  if (scenariosSource === undefined) return true
  return scenariosSource === scenariosText(parts, await shell.call(listScenarios, asked))
}
