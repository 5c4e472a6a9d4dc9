import type { StoppedBy } from '../kill-switch.ts'
import {
  allowText,
  count,
  define,
  type Problems,
  problemLines,
  stoppedText,
  unfinishedText,
} from './entry.ts'

/** `the role admin`, `the role approver or admin`. */
function roleText(roles: readonly string[]): string {
  return `the role ${roles.slice(0, -1).join(', ')}${roles.length > 1 ? ' or ' : ''}${roles.at(-1) ?? ''}`
}

/** Approvals that a version needs and has not. */
export interface Missing {
  readonly required: number
  readonly approvedBy: readonly string[]
  readonly changed: readonly string[]
}

function missingText({ required, approvedBy, changed }: Missing): string {
  const whose = required === 1 ? 'the approval of a person' : `the approvals of ${required} people`
  const have = approvedBy.length === 0 ? 'none' : `that of ${approvedBy.join(', ')}`
  const since = changed.length === 0 ? '' : ` Since it was approved, ${changed.join(', ')} changed.`
  return `needs ${whose} who wrote no part of it, and has ${have}.${since}`
}

/** Who may do what, what may go live, and the proof of it. */
export const governance = {
  ROLE_MISSING: define<{ operation: string; needed: readonly string[]; has: readonly string[] }>(
    'forbidden',
    (d) =>
      `This needs ${roleText(d.needed)}; you have ${d.has.join(', ') || 'no role'}. Ask an admin.`,
  ),
  SCENARIOS_FAILED: define<{
    procedureKey: string
    versionNumber: number
    scenarios: readonly string[]
    /** Given when approvals are missing as well. */
    missing?: Missing
    /** Given when people stand against it as well. */
    declinedBy?: readonly string[]
  }>('conflict', (d) => {
    const declined =
      d.declinedBy === undefined ? '' : ` It was also declined by ${d.declinedBy.join(', ')}.`
    const missing = d.missing === undefined ? '' : ` It also ${missingText(d.missing)}`
    return `${d.procedureKey} version ${d.versionNumber} does not go live: of its scenarios ${d.scenarios.map((name) => `'${name}'`).join(', ')} ${d.scenarios.length === 1 ? 'does' : 'do'} not come out as expected. Simulate it to see in what, and mend the draft or the scenario.${declined}${missing}`
  }),
  ROUTING_NOT_ACKNOWLEDGED: define<
    Problems & { procedureKey: string; versionNumber: number; findingIds: readonly string[] }
  >(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} would change where tickets go; its routing tests found ${count(d.problems)}:${problemLines(d.problems)}\nMend the patterns or the examples, or acknowledge each finding by its id: ${d.findingIds.join(', ')}.`,
  ),
  APPROVAL_MISSING: define<
    Missing & { procedureKey: string; versionNumber: number; digest: string }
  >(
    'conflict',
    (d) =>
      `${d.procedureKey} version ${d.versionNumber} ${missingText(d)} Ask for a review of digest ${d.digest.slice(0, 12)}.`,
  ),
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
  PRINCIPAL_OF_ISSUER: define<{ principalId: string }>(
    'conflict',
    (d) =>
      `'${d.principalId}' comes in with tokens of the issuer, which say their name, roles and groups, so they are changed there, and a key would outlive what it says. Here they can be shut out and let in. For a program make a principal of its own.`,
  ),
  PRINCIPAL_LAST_ADMIN: define<{ principalId: string }>(
    'conflict',
    (d) =>
      `'${d.principalId}' is the last admin who can come in, so nobody could let anybody in after this. Nothing was changed. Make another admin and a key of theirs first.`,
  ),
  KEY_NOT_FOUND: define<{ keyId: string }>(
    'not_found',
    (d) => `There is no key ${d.keyId}. List keys to see which there are.`,
  ),
  KEY_REFUSED: define<Record<string, never>>(
    'unauthenticated',
    () =>
      'The key or token lets nobody in: it is unknown, expired or revoked, or belongs to somebody who is shut out. Ask an admin for another key, or sign in again.',
  ),
  KEY_MISSING: define<{ tenantId: string }>(
    'unauthenticated',
    (d) =>
      `Tenant '${d.tenantId}' has admins with keys, so nobody acts in it without one. Set STEPWARDEN_KEY to yours.`,
  ),
  ISSUER_UNAVAILABLE: define<{ issuer: string; problem: string }>(
    'unavailable',
    (d) =>
      `Whether the token lets somebody in cannot be said now: the keys of ${d.issuer} are out of reach. ${d.problem}. Try again later; keys of Stepwarden work on.`,
    { retryable: true },
  ),
  RATE_LIMITED: define<{
    limited: 'principal' | 'address'
    retryAfterSeconds: number
    perSecond?: number
    allowance?: { limit: number; remaining: number; resetSeconds: number }
  }>(
    'rate_limited',
    (d) =>
      d.limited === 'address'
        ? `Too many credentials from your address have let nobody in, so no further one is looked at now. Try again in ${d.retryAfterSeconds} s.`
        : `You send more than ${d.perSecond} requests a second. Nothing was done; send this one again in ${d.retryAfterSeconds} s.`,
    { retryable: true },
  ),
  DEPLOYMENT_WIDE: define<{ operation: string }>(
    'forbidden',
    (d) =>
      `'${d.operation}' concerns all tenants of this deployment, so none of them asks for it over a network. Whoever runs the deployment does it at the command line.`,
  ),
  TENANT_EXISTS: define<{ tenantId: string }>(
    'conflict',
    (d) => `There is a tenant '${d.tenantId}' already.`,
  ),
  PROCEDURE_STOPPED: define<{ procedureKey: string; stopped: StoppedBy }>(
    'conflict',
    ({ procedureKey, stopped }) =>
      `${procedureKey} cannot be started${stopped.kind === 'tool' ? `: it uses the tool ${stopped.name}, which ${stoppedText(stopped)}` : `. It ${stoppedText(stopped)}`} Nothing was started; ${allowText(stopped)} when it may run again.`,
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
      `Version ${d.versionNumber} of ${d.procedureKey} is to go live at ${d.at} already. To name another time, take that back first: 'stepwarden procedures unschedule ${d.scheduleId}'.`,
  ),
  SCHEDULE_ENDED: define<{ scheduleId: string; status: string }>(
    'conflict',
    (d) => `Schedule ${d.scheduleId} has ended as ${d.status}, and stays so.`,
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
}
