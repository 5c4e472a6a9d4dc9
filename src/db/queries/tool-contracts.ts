import { canonicalJson } from '../../domain/canonical.ts'
import type { ToolContract } from '../../domain/tool.ts'
import type { Db, Transaction } from '../connect.ts'

export interface StoredContract {
  readonly contract: ToolContract
  readonly contractHash: string
}

/** Keeps the contracts that versions pin, so that a run can be replayed when the tool itself is long gone. */
export async function insertContracts(
  transaction: Transaction,
  tenantId: string,
  contracts: readonly StoredContract[],
): Promise<void> {
  if (contracts.length === 0) return
  await transaction
    .insertInto('tool_contracts')
    .values(
      contracts.map(({ contract, contractHash }) => ({
        tenant_id: tenantId,
        hash: contractHash,
        name: contract.name,
        contract: canonicalJson(contract),
      })),
    )
    .onConflict((conflict) => conflict.columns(['tenant_id', 'hash']).doNothing())
    .execute()
}

/** The contracts with the given hashes, by tool name. Every hash that a version pins is there. */
export async function listContracts(
  db: Db,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, StoredContract>> {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('tool_contracts')
    .selectAll()
    .where('hash', 'in', hashes)
    .execute()
  return new Map(
    rows.map((row) => [
      row.name,
      // Written only by `insertContracts`.
      { contract: row.contract as unknown as ToolContract, contractHash: row.hash },
    ]),
  )
}

/** The names of all tools that a version of the tenant has ever pinned. */
export async function listContractNames(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tool_contracts')
    .select('name')
    .distinct()
    .orderBy('name')
    .execute()
  return rows.map(({ name }) => name)
}

/** An active version, and the contract that it has pinned of each tool that it uses. */
export interface ToolUse {
  readonly procedureKey: string
  readonly versionNumber: number
  readonly toolContracts: Readonly<Record<string, string>>
}

/** The active versions that use tools, by procedure key. */
export async function listToolUses(db: Db): Promise<readonly ToolUse[]> {
  const rows = await db
    .selectFrom('procedure_versions')
    .select(['procedure_key', 'version_number', 'tool_contracts'])
    .where('status', '=', 'active')
    .where('tool_contracts', '<>', '{}')
    .orderBy('procedure_key')
    .execute()
  return rows.map((row) => ({
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    // Written only from contract hashes by name.
    toolContracts: row.tool_contracts as Readonly<Record<string, string>>,
  }))
}
