import type { StoppedBy } from './kill-switch.ts'
import { type FileProblem, innerPlaceText, type Problem, placeText } from './problem.ts'

/**
 * What sort of failure a code is. Each front door maps kinds, never single codes, to its own terms
 * (HTTP status, exit code, MCP error).
 */
export type ErrorKind =
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'stale'
  | 'precondition_required'
  | 'forbidden'
  | 'unauthenticated'
  | 'too_large'
  | 'unavailable'
  | 'internal'

interface ErrorEntry<D> {
  readonly kind: ErrorKind
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean
  readonly message: (details: D) => string
}

function define<D>(
  kind: ErrorKind,
  message: (details: D) => string,
  options: { readonly retryable?: boolean } = {},
): ErrorEntry<D> {
  return { kind, message, retryable: options.retryable ?? false }
}

function problemLines(
  problems: readonly Problem[],
  placeOf: (problem: Problem) => string = placeText,
): string {
  return problems
    .map((problem) => {
      const { path, message } = problem
      const place = placeOf(problem)
      return `\n  ${path === '' ? '' : `${path}: `}${message}${place}`
    })
    .join('')
}

/** One problem in a line as editors follow it: `FILE:LINE:COLUMN path: message`. */
function fileProblemLines(problems: readonly FileProblem[]): string {
  return problems
    .map(({ file, path, message, line, column = 1 }) => {
      const place = line === undefined ? '' : `:${line}:${column}`
      return `\n  ${file}${place} ${path === '' ? '' : `${path}: `}${message}`
    })
    .join('')
}

function count(problems: readonly Problem[]): string {
  return problems.length === 1 ? '1 problem' : `${problems.length} problems`
}

function leftOutText(leftOut: number): string {
  return leftOut === 0
    ? ''
    : ` ${leftOut} more that do not are left out, because they stand there twice or another procedure has them as a match.`
}

function unfinishedText(what: string, ids: readonly string[]): string {
  return ids.length === 0 ? '' : ` ${what}: ${ids.join(', ')}.`
}

function stoppedText({ by, since, reason }: StoppedBy): string {
  return `was stopped by ${by} at ${since}: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`
}

function allowText({ kind, name }: StoppedBy): string {
  return `'stepwarden ${kind === 'tool' ? 'tools' : 'procedures'} allow ${name}' lifts that`
}

type Problems = { readonly problems: readonly Problem[] }

/**
 * Every error that can leave the service. Codes are stable: docs/errors.md has an entry for each, and a test holds
 * the two equal. A message names the thing, what was found, what was expected, and the next move.
 */
const registry = {
  ID_INVALID: define<{ kind: string; prefix: string; found: string }>(
    'invalid',
    (d) => `'${d.found}' is no ${d.kind} id. Expected '${d.prefix}_' and 21 characters.`,
  ),
  VALUE_INVALID: define<Problems>(
    'invalid',
    (d) => `The value has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  REQUEST_INVALID: define<Problems & { operation: string }>(
    'invalid',
    (d) => `${d.operation} was called with ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  EXPRESSION_INVALID: define<Problems & { source: string }>(
    'invalid',
    (d) => `The expression has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  TEMPLATE_INVALID: define<Problems>(
    'invalid',
    (d) => `The template has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  CONFIG_INVALID: define<Problems>(
    'invalid',
    (d) =>
      `The configuration has ${count(d.problems)}:${problemLines(d.problems)}\nSee .env.example for the variables of the environment, and docs/library.md for the options of an application.`,
  ),
  TOOL_MODULE_INVALID: define<{ path: string; problem: string }>(
    'invalid',
    (d) =>
      `The tool module ${d.path} ${d.problem}. See docs/tools.md; STEPWARDEN_CONFIG names the module.`,
  ),
  PROCEDURE_EXISTS: define<{ procedureKey: string }>(
    'conflict',
    (d) => `There is a procedure ${d.procedureKey} already. Make a new version of it instead.`,
  ),
  PROCEDURE_NOT_FOUND: define<{ procedureKey: string; nearest?: string }>(
    'not_found',
    (d) =>
      `There is no procedure ${d.procedureKey}.${d.nearest === undefined ? '' : ` Did you mean ${d.nearest}?`} List them to see which there are.`,
  ),
  PROCEDURE_NOT_ACTIVE: define<{ procedureKey: string }>(
    'conflict',
    (d) => `${d.procedureKey} has no active version, so it cannot run. Activate one first.`,
  ),
  PROCEDURE_STOPPED: define<{ procedureKey: string; stopped: StoppedBy }>(
    'conflict',
    ({ procedureKey, stopped }) =>
      `${procedureKey} cannot be started${stopped.kind === 'tool' ? `: it uses the tool ${stopped.name}, which ${stoppedText(stopped)}` : `. It ${stoppedText(stopped)}`} Nothing was started; ${allowText(stopped)} when it may run again.`,
  ),
  EXECUTION_HELD: define<{ executionId: string; stopped: StoppedBy }>(
    'conflict',
    ({ executionId, stopped }) =>
      `Execution ${executionId} does not go on while ${stopped.kind} ${stopped.name} is stopped: it ${stoppedText(stopped)} Nothing was changed; ${allowText(stopped)} when it may run again.`,
  ),
  SWITCH_ENGAGED: define<{ stopped: StoppedBy }>(
    'conflict',
    ({ stopped }) =>
      `The ${stopped.kind} ${stopped.name} ${stoppedText(stopped)} Nothing was changed.`,
  ),
  SWITCH_NOT_ENGAGED: define<{ kind: 'procedure' | 'tool'; name: string }>(
    'conflict',
    (d) => `The ${d.kind} ${d.name} is not stopped, so there is nothing to allow again.`,
  ),
  TOOL_NOT_FOUND: define<{ tool: string; nearest?: string }>(
    'not_found',
    (d) =>
      `There is no tool ${d.tool} here, and no version has used one.${d.nearest === undefined ? '' : ` Did you mean ${d.nearest}?`} List them to see which there are.`,
  ),
  SCHEDULE_NOT_FOUND: define<{ scheduleId: string }>(
    'not_found',
    (d) => `There is no schedule ${d.scheduleId}. List them to see which there are.`,
  ),
  SCHEDULE_IN_PAST: define<{ at: string; now: string }>(
    'invalid',
    (d) =>
      `An activation is scheduled for a time to come, and ${d.at} is over: it is ${d.now}. Name a later time, or activate the version now.`,
  ),
  SCHEDULE_EXISTS: define<{
    procedureKey: string
    versionNumber: number
    scheduleId: string
    at: string
  }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} is to go live at ${d.at} already. Cancel ${d.scheduleId} first to name another time.`,
  ),
  SCHEDULE_ENDED: define<{ scheduleId: string; status: string }>(
    'conflict',
    (d) => `Schedule ${d.scheduleId} has ended as ${d.status}, and stays so.`,
  ),
  ROUTING_NOT_ACKNOWLEDGED: define<
    Problems & { procedureKey: string; versionNumber: number; findingIds: readonly string[] }
  >(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} would change where tickets go; its routing tests found ${count(d.problems)}:${problemLines(d.problems)}\nMend the patterns or the examples, or acknowledge each finding by its id: ${d.findingIds.join(', ')}.`,
  ),
  VERSION_NOT_FOUND: define<{
    procedureKey: string
    versionNumber: number | null
    known: readonly number[]
  }>(
    'not_found',
    (d) =>
      `${d.procedureKey} has no version ${d.versionNumber ?? ''}. It has ${d.known.length === 0 ? 'none' : d.known.join(', ')}.`,
  ),
  SCENARIOS_FAILED: define<{
    procedureKey: string
    versionNumber: number
    scenarios: readonly string[]
  }>(
    'conflict',
    (d) =>
      `${d.procedureKey} version ${d.versionNumber} does not go live: of its scenarios ${d.scenarios.map((name) => `'${name}'`).join(', ')} ${d.scenarios.length === 1 ? 'does' : 'do'} not come out as expected. Simulate it to see in what, and mend the draft or the scenario.`,
  ),
  APPROVAL_MISSING: define<{
    procedureKey: string
    versionNumber: number
    required: number
    approvedBy: readonly string[]
    changed: readonly string[]
    digest: string
  }>('conflict', (d) => {
    const have = d.approvedBy.length === 0 ? 'none' : `that of ${d.approvedBy.join(', ')}`
    const changed =
      d.changed.length === 0 ? '' : ` Since it was approved, ${d.changed.join(', ')} changed.`
    return `${d.procedureKey} version ${d.versionNumber} needs ${d.required === 1 ? 'the approval of a person' : `the approvals of ${d.required} people`} who wrote no part of it, and has ${have}.${changed} Ask for a review of digest ${d.digest.slice(0, 12)}.`
  }),
  APPROVAL_DECLINED: define<{
    procedureKey: string
    versionNumber: number
    by: readonly string[]
  }>(
    'conflict',
    (d) =>
      `${d.procedureKey} version ${d.versionNumber} was declined by ${d.by.join(', ')}. Read why, and mend the draft, or ask for another verdict.`,
  ),
  REVIEW_STALE: define<{
    procedureKey: string
    versionNumber: number
    seen: string
    current: string
    changed: readonly string[]
  }>(
    'stale',
    (d) =>
      `${d.procedureKey} version ${d.versionNumber} is not what you have seen: its digest is ${d.current.slice(0, 12)}, and yours ${d.seen.slice(0, 12)}.${d.changed.length === 0 ? '' : ` Since it was last approved, ${d.changed.join(', ')} changed.`} Look at it again.`,
  ),
  REVIEW_OWN_WORK: define<{
    procedureKey: string
    versionNumber: number
    authorIds: readonly string[]
  }>(
    'forbidden',
    (d) =>
      `Nobody approves their own work, and ${d.procedureKey} version ${d.versionNumber} was written by ${d.authorIds.join(', ')}. Ask somebody else.`,
  ),
  REVIEW_NEEDS_PERSON: define<{ id: string; kind: string; unauthenticated: boolean }>(
    'forbidden',
    (d) =>
      d.unauthenticated
        ? `Approvals are given by people who have shown who they are, and '${d.id}' has not. Set STEPWARDEN_KEY to a key of yours.`
        : `Approvals are given by people, and '${d.id}' is of kind '${d.kind}'. It may comment.`,
  ),
  PRINCIPAL_EXISTS: define<{ principalId: string }>(
    'conflict',
    (d) =>
      `There is somebody called '${d.principalId}' already. Change that one, or take another id.`,
  ),
  PRINCIPAL_NOT_FOUND: define<{ principalId: string }>(
    'not_found',
    (d) => `There is nobody called '${d.principalId}'. List principals to see who there is.`,
  ),
  PRINCIPAL_DISABLED: define<{ principalId: string }>(
    'conflict',
    (d) => `'${d.principalId}' is shut out, so a key would let nobody in. Let them in first.`,
  ),
  KEY_NOT_FOUND: define<{ keyId: string }>(
    'not_found',
    (d) => `There is no key ${d.keyId}. List keys to see which there are.`,
  ),
  KEY_REFUSED: define<Record<string, never>>(
    'unauthenticated',
    () =>
      'The key lets nobody in: it is unknown, expired or revoked, or belongs to somebody who is shut out. Ask an admin for another.',
  ),
  KEY_MISSING: define<{ tenantId: string }>(
    'unauthenticated',
    (d) =>
      `Tenant '${d.tenantId}' has admins with keys, so nobody acts in it without one. Set STEPWARDEN_KEY to yours.`,
  ),
  TENANT_EXISTS: define<{ tenantId: string }>(
    'conflict',
    (d) => `There is a tenant '${d.tenantId}' already.`,
  ),
  VERSION_NOT_DEPRECATED: define<{ procedureKey: string; versionNumber: number; status: string }>(
    'conflict',
    (d) =>
      `Expected a version that served before to roll back to, found version ${d.versionNumber} of ${d.procedureKey}, which is ${d.status === 'draft' ? 'a draft: activate it' : 'the one that serves now'}. Nothing was changed.`,
  ),
  VERSION_NOT_ACTIVE_THEN: define<{ procedureKey: string; at: string }>(
    'not_found',
    (d) =>
      `No version of ${d.procedureKey} served at ${d.at}. Show the procedure to see when each did.`,
  ),
  DRAFT_STALE: define<{
    procedureKey: string
    versionNumber: number
    seen: number
    current: number | null
  }>(
    'stale',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} is at revision ${d.current ?? 'unknown'} now, and you saw ${d.seen}. Nothing was changed: look at the new text and edit that.`,
  ),
  DEFINITION_KEY_DIFFERS: define<{ procedureKey: string; found: string }>(
    'invalid',
    (d) => `The definition has the key ${d.found}, and it is to be a version of ${d.procedureKey}.`,
  ),
  ACTIVATION_STALE: define<{
    procedureKey: string
    seen: number | null
    current: number | null
  }>(
    'conflict',
    (d) =>
      `${d.procedureKey} is served by ${d.current === null ? 'no version' : `version ${d.current}`} now, and you saw ${d.seen === null ? 'none' : `version ${d.seen}`}. Nothing was changed: look again and decide anew.`,
  ),
  VERSION_HAS_ERRORS: define<Problems & { procedureKey: string; versionNumber: number }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} cannot go live; its checks found ${count(d.problems)}:${problemLines(d.problems, innerPlaceText)}`,
  ),
  VERSION_TOOL_CHANGED: define<{
    procedureKey: string
    versionNumber: number
    tools: readonly string[]
  }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} was saved with other contracts of ${d.tools.join(', ')}. Save the draft again to take the tools as they are now.`,
  ),
  VERSION_NOT_EMBEDDED: define<{
    procedureKey: string
    versionNumber: number
    models: readonly string[]
  }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} has no vector of ${d.models.join(', ')}, so search would not find it. Save the draft again, where that model can be asked.`,
  ),
  EMBEDDING_MODEL_DIFFERS: define<{ current: string; offline: string }>(
    'unavailable',
    (d) =>
      `Search cannot ask the embedding model in use, ${d.current}, and not every active version has a vector of ${d.offline}, which it would fall back on. Set up ${d.current} here, or run 'stepwarden embeddings switch ${d.offline}'.`,
    { retryable: true },
  ),
  EMBEDDING_MODEL_UNKNOWN: define<{ model: string; known: readonly string[] }>(
    'not_found',
    (d) =>
      `This process has no embedding model ${d.model}. It has ${d.known.join(', ')}; STEPWARDEN_EMBEDDING_MODEL and OPENAI_API_KEY add one.`,
  ),
  EMBEDDING_MODEL_UNMEASURED: define<{ model: string }>(
    'conflict',
    (d) =>
      `The embedding model ${d.model} was never measured here, so search would select nothing by it. Nothing was changed: run 'stepwarden embeddings calibrate ${d.model}' first, or switch all the same with --unmeasured ('unmeasured: true').`,
  ),
  EMBEDDING_MODEL_CHANGED: define<{ model: string }>(
    'conflict',
    (d) =>
      `A switch to the embedding model ${d.model} began while the version was being saved. Nothing was changed: save it again.`,
    { retryable: true },
  ),
  EMBEDDER_UNAVAILABLE: define<{ model: string; problem: string; nextMove?: string }>(
    'unavailable',
    (d) => `The embedding model ${d.model} ${d.problem}. ${d.nextMove ?? 'Try again later.'}`,
    { retryable: true },
  ),
  EXAMPLES_TOO_FEW: define<{
    match: number
    noMatch: number
    neededMatch: number
    neededNoMatch: number
    leftOut: number
  }>(
    'conflict',
    (d) =>
      `The active versions have ${d.match} examples that match and ${d.noMatch} that do not; ${d.neededMatch} and ${d.neededNoMatch} are needed to measure a model.${leftOutText(d.leftOut)} Add more to 'examples' of their definitions.`,
  ),
  EXECUTION_NOT_FOUND: define<{ executionId: string }>(
    'not_found',
    (d) => `There is no execution ${d.executionId}. List them to see which there are.`,
  ),
  EXECUTION_ENDED: define<{ executionId: string; status: string }>(
    'conflict',
    (d) =>
      `Execution ${d.executionId} has ended as ${d.status}; nothing can be changed about it any more.`,
  ),
  EXECUTION_NOT_PAUSED: define<{ executionId: string; status: string }>(
    'conflict',
    (d) =>
      `Execution ${d.executionId} is ${d.status}, and only one that is paused can be resumed. Nothing was changed: show it to see what it waits for.`,
  ),
  EXECUTION_BUSY: define<{ executionId: string }>(
    'conflict',
    (d) => `A worker has execution ${d.executionId} just now. Try again in a moment.`,
    { retryable: true },
  ),
  WAIT_NOT_FOUND: define<{ executionId: string; step: string; waiting: readonly string[] }>(
    'not_found',
    (d) =>
      `Step '${d.step}' of ${d.executionId} does not wait for anybody. ${d.waiting.length === 0 ? 'Nothing of it does.' : `What waits: ${d.waiting.join(', ')}.`}`,
  ),
  WAIT_CLOSED: define<{ executionId: string; step: string; status: string }>(
    'conflict',
    (d) =>
      `Step '${d.step}' of ${d.executionId} waits no more: it is ${d.status}. Nothing was changed.`,
  ),
  NOT_ASKED: define<{ executionId: string; step: string; why: string }>(
    'forbidden',
    (d) => `You cannot speak at step '${d.step}' of ${d.executionId}: ${d.why}.`,
  ),
  ANSWER_INVALID: define<{ executionId: string; step: string; problems: readonly Problem[] }>(
    'invalid',
    (d) =>
      `The answer to step '${d.step}' of ${d.executionId} does not have the form that is asked for:${problemLines(d.problems)}`,
  ),
  WAIT_DIFFERS: define<{ executionId: string; step: string; needs: string }>(
    'invalid',
    (d) => `Step '${d.step}' of ${d.executionId} is not spoken to like this. ${d.needs}`,
  ),
  APPROVAL_STALE: define<{ executionId: string; step: string; showHash: string }>(
    'stale',
    (d) =>
      `What step '${d.step}' of ${d.executionId} shows has the hash ${d.showHash}, and your yes names another. Look at it again.`,
  ),
  IDEMPOTENCY_KEY_REUSED: define<{ idempotencyKey: string; executionId: string }>(
    'invalid',
    (d) =>
      `The idempotency key '${d.idempotencyKey}' belongs to another request, which became ${d.executionId}. Use a new key for a new request.`,
  ),
  ESCALATION_NOT_FOUND: define<{ escalationId: string }>(
    'not_found',
    (d) => `There is no escalation ${d.escalationId}. List them to see which there are.`,
  ),
  ESCALATION_RESOLVED: define<{ escalationId: string }>(
    'conflict',
    (d) => `Escalation ${d.escalationId} is resolved already, and stays as it was resolved.`,
  ),
  ROLE_MISSING: define<{ operation: string; needed: readonly string[]; has: readonly string[] }>(
    'forbidden',
    (d) =>
      `${d.operation} needs one of the roles ${d.needed.join(', ')}; you have ${d.has.join(', ') || 'none'}. Ask an admin.`,
  ),
  LEASE_LOST: define<{ executionId: string; fence: number }>(
    'conflict',
    (d) =>
      `Execution ${d.executionId} was taken over by another worker, or has ended; nothing was written under fence ${d.fence}.`,
  ),
  DATABASE_UNAVAILABLE: define<{ database: string; problem: string }>(
    'unavailable',
    (d) =>
      `The database ${d.database} cannot be reached: ${d.problem}. Check that it runs and that DATABASE_URL names it with the right user and password.`,
    { retryable: true },
  ),
  DATABASE_NOT_READY: define<{ database: string; problem: string; nextMove: string }>(
    'unavailable',
    (d) => `The database ${d.database} cannot be used yet: ${d.problem}. ${d.nextMove}`,
  ),
  DATABASE_BUSY: define<{ waitedMs: number }>(
    'unavailable',
    (d) =>
      `No database connection became free within ${d.waitedMs} ms. Either there is more work than connections, or code inside a transaction asked for a second connection: it must use the transaction's own handle.`,
    { retryable: true },
  ),
  SCHEMA_OUTDATED: define<{ database: string; missing: readonly string[] }>(
    'unavailable',
    (d) =>
      `The schema of ${d.database} is older than this code: it lacks ${d.missing.join(', ')}. Run 'stepwarden migrate'.`,
  ),
  SCHEMA_NEEDS_NEWER_CODE: define<{
    database: string
    migration: string
    required: string
    found: string
  }>(
    'unavailable',
    (d) =>
      `The schema of ${d.database} needs stepwarden ${d.required} or newer, since migration ${d.migration}; this is ${d.found}. Install a newer version.`,
  ),
  DATA_FOLDER_IN_USE: define<{ folder: string; holder: string; nextMove: string }>(
    'unavailable',
    (d) => `The data folder ${d.folder} is in use by ${d.holder}. ${d.nextMove}`,
    { retryable: true },
  ),
  DATA_FOLDER_UNUSABLE: define<{ folder: string; problem: string }>(
    'unavailable',
    (d) =>
      `The data folder ${d.folder} cannot be used: ${d.problem}. Check its permissions and the space left on its disk, or name another with STEPWARDEN_DATA_DIR.`,
  ),
  TENANT_NOT_FOUND: define<{ tenantId: string }>(
    'not_found',
    (d) =>
      `There is no tenant '${d.tenantId}' in this database. STEPWARDEN_TENANT names the one to work for; without it that is 'default'.`,
  ),
  USAGE_INVALID: define<{ problem: string; nextMove: string }>(
    'invalid',
    (d) => `${d.problem} ${d.nextMove}`,
  ),
  FILE_UNREADABLE: define<{ file: string; problem: string }>(
    'invalid',
    (d) => `${d.file} cannot be read: ${d.problem}. Name a text file, or - for standard input.`,
  ),
  FILE_UNWRITABLE: define<{ file: string; problem: string }>(
    'invalid',
    (d) => `${d.file} cannot be written: ${d.problem}. Make room for it, or name another folder.`,
  ),
  FILES_INVALID: define<{ folder: string; problems: readonly FileProblem[] }>(
    'invalid',
    (d) =>
      `The files in ${d.folder} have ${count(d.problems)}, so nothing was done:${fileProblemLines(d.problems)}`,
  ),
  FILES_DIFFER: define<{ folder: string; files: readonly string[] }>(
    'conflict',
    (d) =>
      `${d.folder} has ${d.files.length === 1 ? 'a file' : `${d.files.length} files`} of another content, so nothing was written: ${d.files.join(', ')}. Look at them with --plan, or replace them with --force.`,
  ),
  CHECKPOINT_KEY_MISSING: define<Record<string, never>>(
    'conflict',
    () =>
      "There is no key to sign checkpoints with. Make one with 'stepwarden audit keygen' and set STEPWARDEN_CHECKPOINT_KEY.",
  ),
  PUBLIC_KEY_INVALID: define<{ problem: string }>(
    'invalid',
    (d) =>
      `${d.problem} Give the Ed25519 public keys that 'stepwarden audit keygen' prints, in PEM.`,
  ),
  EXECUTION_NOT_SEALED: define<{ executionId: string }>(
    'conflict',
    (d) =>
      `${d.executionId} is not sealed, so there is no proof of it yet. Once it has ended, 'stepwarden audit seal' seals it at once.`,
    { retryable: true },
  ),
  ERASURE_BLOCKED: define<{
    customerId: string
    runs: readonly string[]
    escalations: readonly string[]
  }>(
    'conflict',
    (d) =>
      `Not all of customer '${d.customerId}' is over:${unfinishedText('runs that go on', d.runs)}${unfinishedText('escalations that nobody has resolved', d.escalations)} Let the runs end or cancel them ('stepwarden executions cancel ID'), resolve the escalations ('stepwarden escalations resolve ID TEXT'), then erase again. What had ended may be erased already.`,
    { retryable: true },
  ),
  EDITOR_FAILED: define<{ editor: string; problem: string }>(
    'invalid',
    (d) =>
      `The editor '${d.editor}' ${d.problem}, so nothing was changed. Set VISUAL or EDITOR to one that works, or give the text with --file.`,
  ),
  DOCUMENT_INVALID: define<Problems & { name: string }>(
    'invalid',
    (d) => `${d.name} has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  DEFINITION_INVALID: define<Problems>(
    'invalid',
    (d) => `The definition has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  DEFINITION_HAS_ERRORS: define<Problems & { procedureKey: string }>(
    'invalid',
    (d) =>
      `The definition of ${d.procedureKey} cannot be simulated yet; its checks found ${count(d.problems)}:${problemLines(d.problems, innerPlaceText)}`,
  ),
  SCENARIOS_INVALID: define<Problems>(
    'invalid',
    (d) => `The scenarios have ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  SCHEMA_INVALID: define<Problems>(
    'invalid',
    (d) => `The JSON Schema has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  TOOL_INVALID: define<Problems & { tool: string }>(
    'invalid',
    (d) => `The tool ${d.tool} has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  TOOLS_INVALID: define<Problems>(
    'invalid',
    (d) => `The tools have ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  VERSION_NOT_DRAFT: define<{ status: string; wanted: string }>(
    'conflict',
    (d) =>
      `Expected a draft to ${d.wanted}, found a version that is ${d.status}. Create a new version as a copy of it and work on that.`,
  ),
  VERSION_NOT_ACTIVE: define<{ status: string; wanted: string }>(
    'conflict',
    (d) =>
      `Expected the active version to ${d.wanted}, found one that is ${d.status}. Look up which version is active.`,
  ),
  SENSITIVE_VALUE_LOST: define<{ executionId: string }>(
    'internal',
    (d) =>
      `A sensitive value of ${d.executionId} is gone, or is not the one that its record names. The run can neither go on nor be replayed; restore the table sensitive_values from a backup.`,
  ),
  BACKTEST_NOT_FOUND: define<{ backtestId: string }>(
    'not_found',
    (d) =>
      `There is no backtest ${d.backtestId}. List those of the version to see which there are.`,
  ),
  BACKTEST_ENDED: define<{ backtestId: string; state: string }>(
    'conflict',
    (d) => `Expected a backtest that is running, and ${d.backtestId} is ${d.state}. Begin another.`,
  ),
  INTERNAL: define<Record<string, never>>(
    'internal',
    () => 'Something failed inside the service. The log has the cause.',
  ),
} as const satisfies Record<string, ErrorEntry<never>>

export type ErrorCode = keyof typeof registry
export type ErrorDetails<C extends ErrorCode> = Parameters<(typeof registry)[C]['message']>[0]

/** The registry seen code by code, so that an entry and its details stay together for a generic code. */
const entries: { readonly [C in ErrorCode]: ErrorEntry<ErrorDetails<C>> } = registry

/** The one error class. Whatever else is thrown becomes `INTERNAL` at the rim and is logged once. */
export class ServiceError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly kind: ErrorKind
  readonly retryable: boolean
  readonly details: ErrorDetails<C>

  constructor(code: C, details: ErrorDetails<C>, options?: { readonly cause?: unknown }) {
    const entry = entries[code]
    super(entry.message(details), options)
    this.name = 'ServiceError'
    this.code = code
    this.kind = entry.kind
    this.retryable = entry.retryable
    this.details = details
  }
}

/** Narrows an unknown error to the service's own, optionally of one code. */
export function isServiceError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C,
): error is ServiceError<C> {
  return error instanceof ServiceError && (code === undefined || error.code === code)
}

/** What is fixed for each code, for the documentation and the tests that hold it equal. */
export const errorCodes: ReadonlyMap<
  ErrorCode,
  { readonly kind: ErrorKind; readonly retryable: boolean }
> = new Map(
  Object.entries(registry).map(([code, { kind, retryable }]) => [
    code as ErrorCode,
    { kind, retryable },
  ]),
)
