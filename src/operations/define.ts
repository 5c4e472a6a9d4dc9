import type { z } from 'zod'
import type { AppContext } from '../context.ts'
import type { TenantDb, Transaction } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { findValueProblems } from '../domain/canonical.ts'
import { type ErrorCode, ServiceError } from '../domain/errors.ts'
import type { StepRow } from '../domain/execution.ts'
import type { Json } from '../domain/json.ts'
import type { Principal, Role } from '../domain/principal.ts'
import { requestProblems, requestWording } from '../domain/request-problems.ts'
import { isForDeployment } from './whole-deployment.ts'

/** Which front door a call came through; recorded with every administrative act. */
export type Origin = 'library' | 'cli' | 'http' | 'mcp' | 'schedule'

/** Who calls, and through which door. */
export interface Caller {
  readonly principal: Principal
  readonly origin: Origin
  /** Told the id of a run that the call started, as soon as it is stored: whatever comes now, it is there. */
  readonly onStarted?: ((executionId: string) => void) | undefined
  /** True once the door is closing: a run gives itself back before its next step, for another process to carry on. */
  readonly isStopping?: (() => boolean) | undefined
  /** Told of the steps of a run that the call started, as they are committed. */
  readonly onSteps?: ((rows: readonly StepRow[]) => void) | undefined
  /** Told how much of a long operation is done, in the words of its people: `12,000 events`. */
  readonly onProgress?: ((done: string) => void) | undefined
}

/** What an operation's code is given besides its input. */
export interface OperationContext {
  readonly app: AppContext
  readonly caller: Caller
  /** The caller's tenant: all that this operation can see. */
  readonly db: TenantDb
}

/** What an administrative act did, for the audit log. */
export interface AuditEntry {
  /** Past tense, noun first: `version.activated`. */
  readonly action: string
  readonly entityKind:
    | 'procedure'
    | 'version'
    | 'tool'
    | 'execution'
    | 'escalation'
    | 'embedding_model'
    | 'tenant'
    | 'principal'
    | 'key'
    | 'webhook'
    | 'experience'
    | 'lesson'
    | 'proposal'
  readonly entityId: string
  /** Hashes of what was there before and after, where that has one. */
  readonly beforeHash?: string
  readonly afterHash?: string
  readonly details?: Readonly<Record<string, Json>>
  /** True when the act needed an approval by the design, and this deployment asks for none. */
  readonly ungoverned?: boolean
}

/**
 * One thing that a caller may ask for: the contract that every front door is made from.
 *
 * `invoke` takes raw input from outside, refuses it whole with every problem, checks the caller's role, and runs.
 */
export interface Operation<I = unknown, O = unknown> {
  readonly name: string
  /** One sentence for help texts and API documents. */
  readonly summary: string
  readonly input: z.ZodType<I>
  readonly output: z.ZodType<O>
  /** Codes that a caller must expect besides those that any operation may answer. */
  readonly errors: readonly ErrorCode[]
  /** Any of these may call it. */
  readonly roles: readonly Role[]
  /** True for acts that are written to the audit log. They have no place among an agent's tools. */
  readonly administrative: boolean
  readonly invoke: (app: AppContext, caller: Caller, input: unknown) => Promise<O>
}

/** Codes that any operation may answer. */
export const commonErrors: readonly ErrorCode[] = ['REQUEST_INVALID', 'ROLE_MISSING', 'INTERNAL']

const deploymentErrors: readonly ErrorCode[] = ['DEPLOYMENT_WIDE']

interface Declared<I, O> {
  readonly name: string
  readonly summary: string
  readonly input: z.ZodType<I>
  readonly output: z.ZodType<O>
  readonly errors: readonly ErrorCode[]
  readonly roles: readonly Role[]
}

/**
 * Declares an operation that reads, or that runs procedures. It opens transactions of its own where it needs them. One that
 * takes many of them for an administrative act, each with its event, says so.
 */
export function defineOperation<I, O>(
  declared: Declared<I, O> & {
    readonly administrative?: true
    readonly run: (context: OperationContext, input: I) => Promise<O>
  },
): Operation<I, O> {
  const { run, administrative = false, ...contract } = declared
  return {
    ...contract,
    administrative,
    invoke: async (app, caller, raw) => {
      const input = admit(contract, caller, raw)
      return run({ app, caller, db: app.database.forTenant(caller.principal.tenantId) }, input)
    },
  }
}

/**
 * Declares an administrative operation: `change` runs inside one transaction, and what it did is written to the audit
 * log as the last statement of that transaction, or nothing happened at all. `prepare` does beforehand what must not
 * hold a transaction open (embedding a text). An `output` that is a function is asked for once the transaction is
 * committed, and may carry on from there; what it throws does not undo the act.
 */
export function defineAdministration<I, O, P = undefined>(
  declared: Declared<I, O> & {
    /** It changes what all tenants share: refused to who comes over a network, unless theirs is the only one. */
    readonly concernsAllTenants?: true
    readonly prepare?: (context: OperationContext, input: I) => Promise<P>
    readonly change: (
      context: OperationContext,
      transaction: Transaction,
      input: I,
      prepared: P,
    ) => Promise<{
      readonly output: O | (() => Promise<O>)
      readonly audit: readonly AuditEntry[]
    }>
  },
): Operation<I, O> {
  const { change, prepare, concernsAllTenants, ...contract } = declared
  return {
    ...contract,
    errors: [...contract.errors, ...(concernsAllTenants ? deploymentErrors : [])],
    administrative: true,
    invoke: async (app, caller, raw) => {
      const input = admit(contract, caller, raw)
      if (concernsAllTenants && !(await isForDeployment(app, caller))) {
        throw new ServiceError('DEPLOYMENT_WIDE', { operation: contract.name })
      }
      const context = { app, caller, db: app.database.forTenant(caller.principal.tenantId) }
      const prepared = (await prepare?.(context, input)) as P
      const output = await context.db.kysely.transaction().execute(async (transaction) => {
        const { output, audit } = await change(context, transaction, input, prepared)
        for (const entry of audit) {
          await insertAuditEvent(transaction, {
            ...entry,
            principal: caller.principal,
            origin: caller.origin,
            at: app.clock.now(),
          })
        }
        return output
      })
      return output instanceof Function ? output() : output
    },
  }
}

function admit<I>(
  { name, input, roles }: Pick<Declared<I, unknown>, 'name' | 'input' | 'roles'>,
  { principal }: Caller,
  raw: unknown,
): I {
  if (!roles.some((role) => principal.roles.includes(role))) {
    throw new ServiceError('ROLE_MISSING', { operation: name, needed: roles, has: principal.roles })
  }
  const parsed = input.safeParse(raw, { error: requestWording })
  if (parsed.success) {
    // What cannot be stored (NUL, lone surrogates, numbers that lose digits) is refused here, whatever the operation.
    const flaws = findValueProblems(raw)
    if (flaws.length > 0)
      throw new ServiceError('REQUEST_INVALID', { operation: name, problems: flaws })
    return parsed.data
  }
  const problems = requestProblems(input, parsed.error)
  throw new ServiceError('REQUEST_INVALID', { operation: name, problems })
}
