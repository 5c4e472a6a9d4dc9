import { z } from 'zod'
import type { Transaction } from '../db/connect.ts'
import { countHeld, listWritesInFlight, maxWritesInFlight } from '../db/queries/execution-holds.ts'
import {
  findEngagedSwitch,
  insertSwitch,
  lockSwitches,
  updateLifted,
} from '../db/queries/kill-switches.ts'
import { type ErrorCode, ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { type KillSwitch, type SwitchKind, stoppedBy } from '../domain/kill-switch.ts'
import { defineAdministration, type OperationContext } from './define.ts'
import { settleSwitch } from './settle-switches.ts'
import { instant } from './shapes.ts'
import { stoppedShape } from './stopped-output.ts'

export const stopReason = z
  .string()
  .trim()
  .min(1, 'must say why')
  .max(1_000)
  .describe('Why, for whoever meets the switch')

const stopOutput = z.object({
  stopped: stoppedShape,
  heldCount: z.int().describe('Executions that do not go on until it is allowed again'),
  writesInFlight: z
    .array(
      z.object({
        executionId: z.string(),
        procedureKey: z.string(),
        versionNumber: z.int(),
        stepKey: z.string(),
        iteration: z.string(),
        tool: z.string(),
        startedAt: instant,
      }),
    )
    .describe(
      `Calls that had begun and are let finish; at most ${maxWritesInFlight}, the oldest executions first`,
    ),
})

const allowOutput = z.object({
  kind: z.enum(['procedure', 'tool']),
  name: z.string(),
  heldCount: z.int().describe('Executions that the switch held, and that any worker takes now'),
})

interface Declared<I> {
  readonly kind: SwitchKind
  readonly summary: string
  readonly input: z.ZodType<I>
  readonly errors: readonly ErrorCode[]
}

/** An operation that engages a switch: no new start from then on, and what goes on is held before its next write. */
export function defineStop<I extends { readonly reason: string }>(
  name: string,
  { kind, find, ...declared }: Declared<I> & { readonly find: FindStoppable<I> },
) {
  return defineAdministration({
    ...declared,
    name,
    output: stopOutput,
    errors: [...declared.errors, 'SWITCH_ENGAGED'],
    roles: ['approver', 'admin'],
    async change(context, transaction, input) {
      const { app, caller, db } = context
      const { named, entityId } = await find(context, transaction, input)
      await lockSwitches(transaction, db.tenantId, 'update')
      const engaged = await findEngagedSwitch(transaction, kind, named)
      if (engaged !== undefined) {
        throw new ServiceError('SWITCH_ENGAGED', { stopped: stoppedBy(engaged) })
      }
      const now = app.clock.now()
      const added: KillSwitch = {
        id: newId('switch', now),
        kind,
        name: named,
        reason: input.reason,
        engagedBy: caller.principal,
        engagedAt: new Date(now),
        liftedBy: null,
        liftedAt: null,
      }
      await insertSwitch(transaction, db.tenantId, added)
      const { reason } = input
      const audit = { action: `${kind}.stopped`, entityKind: kind, entityId } as const
      return {
        // Only now no start can come that does not know of the switch.
        output: () => holdAll(context, added),
        audit: [{ ...audit, details: { ...namedDetail(kind, named), reason } }],
      }
    },
  })
}

/** What is to be stopped or allowed, and what the audit log calls it. It throws when there is no such thing. */
export type FindStoppable<I> = (
  context: OperationContext,
  transaction: Transaction,
  input: I,
) => Promise<{ readonly named: string; readonly entityId: string }>

async function holdAll(
  { app, db }: OperationContext,
  engaged: KillSwitch,
): Promise<z.infer<typeof stopOutput>> {
  await settleSwitch(app, db, engaged.id)
  const writes = await listWritesInFlight(db.kysely, engaged)
  return {
    stopped: stoppedBy(engaged),
    heldCount: await countHeld(db.kysely, engaged.id),
    writesInFlight: writes.map(({ startedAt, ...write }) => ({
      ...write,
      startedAt: startedAt.toISOString(),
    })),
  }
}

/** An operation that lifts a switch: starts are possible again, and what it held goes on with any worker. */
export function defineAllow<I>(
  name: string,
  { kind, find, ...declared }: Declared<I> & { readonly find: FindStoppable<I> },
) {
  return defineAdministration({
    ...declared,
    name,
    output: allowOutput,
    errors: [...declared.errors, 'SWITCH_NOT_ENGAGED'],
    roles: ['approver', 'admin'],
    async change(context, transaction, input) {
      const { app, caller, db } = context
      const { named, entityId } = await find(context, transaction, input)
      await lockSwitches(transaction, db.tenantId, 'update')
      const engaged = await findEngagedSwitch(transaction, kind, named)
      if (engaged === undefined) throw new ServiceError('SWITCH_NOT_ENGAGED', { kind, name: named })
      const heldCount = await countHeld(transaction, engaged.id)
      await updateLifted(transaction, engaged.id, caller.principal, new Date(app.clock.now()))
      const audit = { action: `${kind}.allowed`, entityKind: kind, entityId } as const
      return {
        output: async () => {
          await settleSwitch(app, db, engaged.id)
          return { kind, name: named, heldCount }
        },
        audit: [{ ...audit, details: { ...namedDetail(kind, named), heldCount } }],
      }
    },
  })
}

/** As other events name it. */
function namedDetail(kind: SwitchKind, name: string): Readonly<Record<string, string>> {
  return kind === 'procedure' ? { procedureKey: name } : { tool: name }
}
