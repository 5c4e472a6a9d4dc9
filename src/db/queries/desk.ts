import { newId } from '../../domain/ids.ts'
import type { Database } from '../connect.ts'

/** A refund that the demo's payment desk recorded. */
export interface DeskRefund {
  readonly state: string
  readonly etaBusinessDays: number | null
  readonly idempotencyKey: string
}

/** The part of the demo's payment desk that must survive a restart. */
export interface DeskStore {
  /** The refund of a transaction that stands: neither failed nor cancelled. At most one does. */
  findRefund(tenantId: string, transactionId: string): Promise<DeskRefund | undefined>
  /** Records a refund unless one stands for the transaction, and answers the one that stands then. */
  recordRefund(
    tenantId: string,
    refund: {
      readonly transactionId: string
      readonly amount: number
      readonly currency: string
      readonly idempotencyKey: string
    },
  ): Promise<DeskRefund>
  /** Records a message, once per key. */
  recordMessage(tenantId: string, message: string, idempotencyKey: string): Promise<void>
}

export function createDeskStore(database: Database, now: () => number): DeskStore {
  async function findRefund(
    tenantId: string,
    transactionId: string,
  ): Promise<DeskRefund | undefined> {
    const row = await database
      .forTenant(tenantId)
      .kysely.selectFrom('desk_refunds')
      .select(['state', 'eta_business_days', 'idempotency_key'])
      .where('transaction_id', '=', transactionId)
      .where('state', 'not in', ['failed', 'cancelled'])
      .executeTakeFirst()
    return (
      row && {
        state: row.state,
        etaBusinessDays: row.eta_business_days,
        idempotencyKey: row.idempotency_key,
      }
    )
  }
  return {
    findRefund,
    async recordRefund(tenantId, refund) {
      const at = now()
      // Both unique indexes may speak here: the key of a repeat, and the transaction of another run.
      await database
        .forTenant(tenantId)
        .kysely.insertInto('desk_refunds')
        .values({
          tenant_id: tenantId,
          id: newId('refund', at),
          transaction_id: refund.transactionId,
          amount: refund.amount.toFixed(2),
          currency: refund.currency,
          state: 'submitted',
          eta_business_days: 5,
          idempotency_key: refund.idempotencyKey,
          created_at: new Date(at),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const standing = await findRefund(tenantId, refund.transactionId)
      if (standing === undefined) {
        throw new Error(`The refund of ${refund.transactionId} was neither recorded nor found.`)
      }
      return standing
    },
    async recordMessage(tenantId, message, idempotencyKey) {
      const at = now()
      await database
        .forTenant(tenantId)
        .kysely.insertInto('desk_messages')
        .values({
          tenant_id: tenantId,
          id: newId('message', at),
          idempotency_key: idempotencyKey,
          message,
          created_at: new Date(at),
        })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'idempotency_key']).doNothing())
        .execute()
    },
  }
}
