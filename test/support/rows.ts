import type { Insertable } from 'kysely'
import type { Database } from '../../src/db/connect.ts'
import type { ExecutionsTable, StepExecutionsTable } from '../../src/db/rows/executions.ts'
import type { ProcedureVersionsTable } from '../../src/db/rows/procedures.ts'
import { sha256 } from '../../src/domain/canonical.ts'

/**
 * Rows as the database accepts them, for tests of the database itself; the values mean nothing beyond that. What is
 * given replaces the default.
 */
export const exampleAt = new Date('2026-11-29T12:00:00.000Z')
const exampleHash = sha256('an example')

/** The least that a row of scenarios holds. */
export const exampleScenario = '{"name": "example", "expect": {"end": "resolved"}}'

const person = '{"id":"ana","kind":"human"}'

export function versionRow(
  row: Pick<Insertable<ProcedureVersionsTable>, 'tenant_id' | 'id' | 'procedure_id'> &
    Partial<Insertable<ProcedureVersionsTable>>,
): Insertable<ProcedureVersionsTable> {
  return {
    version_number: 1,
    definition: JSON.stringify({
      key: row.procedure_id.toUpperCase(),
      name: 'Example',
      description: 'An example.',
      issuePatterns: ['an example'],
      steps: [],
    }),
    definition_hash: exampleHash,
    summary: 'Example.',
    purpose: 'Example.',
    tool_contracts: '{}',
    findings: '[]',
    author_ids: ['ana'],
    created_by: person,
    created_at: exampleAt,
    updated_by: person,
    updated_at: exampleAt,
    ...row,
  }
}

export function executionRow(
  row: Pick<Insertable<ExecutionsTable>, 'tenant_id' | 'id' | 'procedure_id' | 'version_id'> &
    Partial<Insertable<ExecutionsTable>>,
): Insertable<ExecutionsTable> {
  return {
    procedure_key: row.procedure_id.toUpperCase(),
    version_number: 1,
    definition_hash: exampleHash,
    status: 'running',
    semantics_version: 1,
    durability: 'effect',
    mode: 'automatic',
    input: '{}',
    requester: person,
    tool_contracts: '{}',
    created_at: exampleAt,
    started_at: exampleAt,
    ...row,
  }
}

export function stepRow(
  row: Pick<Insertable<StepExecutionsTable>, 'tenant_id' | 'execution_id' | 'ordinal'> &
    Partial<Insertable<StepExecutionsTable>>,
): Insertable<StepExecutionsTable> {
  return {
    step_key: 'look',
    kind: 'tool',
    status: 'running',
    started_at: exampleAt,
    revision: 1,
    ...row,
  }
}

/**
 * Stores a procedure `<name>_proc` in a tenant with the versions `<name>_deprecated` (1), `<name>_active` (2) and
 * `<name>_draft` (3), the last two with their activations.
 */
export async function insertProcedure(
  database: Database,
  tenantId: string,
  name: string,
): Promise<void> {
  const { kysely } = database.forTenant(tenantId)
  const procedureId = `${name}_proc`
  await kysely
    .insertInto('procedures')
    .values({
      tenant_id: tenantId,
      id: procedureId,
      key: procedureId.toUpperCase(),
      latest_version_number: 3,
      created_at: exampleAt,
    })
    .execute()
  const ids = [`${name}_deprecated`, `${name}_active`, `${name}_draft`]
  await kysely
    .insertInto('procedure_versions')
    .values(
      ids.map((id, index) =>
        versionRow({
          tenant_id: tenantId,
          id,
          procedure_id: procedureId,
          version_number: index + 1,
        }),
      ),
    )
    .execute()
  for (const [index, versionId] of ids.slice(0, 2).entries()) {
    const activeFrom = new Date(exampleAt.getTime() + index * 60_000)
    await kysely
      .updateTable('activations')
      .set({ active_until: activeFrom, deactivated_by: person })
      .where('active_until', 'is', null)
      .where('procedure_id', '=', procedureId)
      .execute()
    await kysely
      .updateTable('procedure_versions')
      .set({ status: 'deprecated' })
      .where('status', '=', 'active')
      .where('procedure_id', '=', procedureId)
      .execute()
    await kysely
      .updateTable('procedure_versions')
      .set({ status: 'active' })
      .where('id', '=', versionId)
      .execute()
    await kysely
      .insertInto('activations')
      .values({
        tenant_id: tenantId,
        id: `${versionId}_act`,
        procedure_id: procedureId,
        version_id: versionId,
        active_from: activeFrom,
        activated_by: person,
      })
      .execute()
  }
}
