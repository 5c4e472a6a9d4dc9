import type { Selectable } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Definition } from '../../domain/definition.ts'
import type { Finding } from '../../domain/finding.ts'
import type { Id } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { VersionStatus } from '../../domain/version.ts'
import type { Db, Transaction } from '../connect.ts'
import type { ProcedureVersionsTable } from '../rows/procedures.ts'

/** A version without its content: what lists show. */
export interface VersionListItem {
  readonly id: Id<'version'>
  readonly procedureId: Id<'procedure'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly status: VersionStatus
  readonly name: string
  readonly category: string
  readonly definitionHash: string
  readonly revision: number
  readonly createdAt: Date
  readonly updatedAt: Date
  /** When a person is to look whether it still holds; null for never. */
  readonly reviewBy: Date | null
}

/** One version, whole. */
export interface ProcedureVersion extends VersionListItem {
  readonly definition: Definition
  readonly summary: string
  readonly purpose: string
  /** Contract hash by tool name, as pinned when it was last saved. */
  readonly toolContracts: Readonly<Record<string, string>>
  readonly findings: readonly Finding[]
  readonly authorIds: readonly string[]
  /** What it went live with; null for a draft, and where no approval was needed. */
  readonly approvalDigest: string | null
  /** The proposal that it was made of; null where a person wrote it. */
  readonly proposalId: Id<'proposal'> | null
}

/** What saving a draft stores of it. */
export interface VersionContent {
  readonly definition: Definition
  readonly definitionHash: string
  readonly summary: string
  readonly purpose: string
  readonly toolContracts: Readonly<Record<string, string>>
  readonly findings: readonly Finding[]
}

/**
 * The texts that a version was read from, with their comments; null where it came as values. They say what is stored, and
 * mean nothing to a run.
 */
export interface VersionTexts {
  readonly source: string | null
  readonly scenariosSource: string | null
}

/** What a list shows of a version. */
const listColumns = [
  'id',
  'procedure_id',
  'procedure_key',
  'version_number',
  'status',
  'name',
  'category',
  'definition_hash',
  'revision',
  'created_at',
  'updated_at',
  'review_by',
] as const

/** All that a version is, without its texts: who runs it reads none of them. */
const versionColumns = [
  ...listColumns,
  'definition',
  'summary',
  'purpose',
  'tool_contracts',
  'findings',
  'author_ids',
  'approval_digest',
  'proposal_id',
] as const

export async function findVersion(
  db: Db,
  procedureKey: string,
  versionNumber: number,
): Promise<ProcedureVersion | undefined> {
  const row = await db
    .selectFrom('procedure_versions')
    .select(versionColumns)
    .where('procedure_key', '=', procedureKey)
    .where('version_number', '=', versionNumber)
    .executeTakeFirst()
  return row && toVersion(row)
}

export async function findVersionById(
  db: Db,
  id: Id<'version'>,
): Promise<ProcedureVersion | undefined> {
  const row = await db
    .selectFrom('procedure_versions')
    .select(versionColumns)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toVersion(row)
}

/** The version that serves a procedure now, if one does. */
export async function findActiveVersion(
  db: Db,
  procedureKey: string,
): Promise<ProcedureVersion | undefined> {
  const row = await db
    .selectFrom('procedure_versions')
    .select(versionColumns)
    .where('procedure_key', '=', procedureKey)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return row && toVersion(row)
}

/** Those of the versions with these ids that there are, by key and number. */
export async function listVersionsById(
  db: Db,
  ids: readonly Id<'version'>[],
): Promise<readonly ProcedureVersion[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('procedure_versions')
    .select(versionColumns)
    .where('id', 'in', ids)
    .orderBy('procedure_key')
    .orderBy('version_number')
    .execute()
  return rows.map(toVersion)
}

/** The texts of a version; both null when there is no such version. */
export async function findVersionTexts(db: Db, id: Id<'version'>): Promise<VersionTexts> {
  const row = await db
    .selectFrom('procedure_versions')
    .select(['source', 'scenarios_source'])
    .where('id', '=', id)
    .executeTakeFirst()
  return { source: row?.source ?? null, scenariosSource: row?.scenarios_source ?? null }
}

/** Newest first. A procedure has few enough versions for one page. */
export async function listVersions(
  db: Db,
  procedureId: Id<'procedure'>,
): Promise<readonly VersionListItem[]> {
  const rows = await db
    .selectFrom('procedure_versions')
    .select(listColumns)
    .where('procedure_id', '=', procedureId)
    .orderBy('version_number', 'desc')
    .execute()
  return rows.map(toListItem)
}

export async function insertVersion(
  transaction: Transaction,
  version: VersionContent &
    VersionTexts & {
      readonly tenantId: string
      readonly id: Id<'version'>
      readonly procedureId: Id<'procedure'>
      readonly versionNumber: number
      /** Who made the row. */
      readonly author: Principal
      /** Who wrote what stands in it, when that was not its maker: of an unchanged copy. */
      readonly authorIds?: readonly string[]
      readonly at: Date
      readonly basedOn?: Id<'version'>
      readonly proposalId?: Id<'proposal'>
    },
): Promise<void> {
  const author = canonicalJson(version.author)
  await transaction
    .insertInto('procedure_versions')
    .values({
      tenant_id: version.tenantId,
      id: version.id,
      procedure_id: version.procedureId,
      version_number: version.versionNumber,
      ...contentColumns(version),
      ...textColumns(version),
      author_ids: [...(version.authorIds ?? [version.author.id])],
      based_on_version_id: version.basedOn ?? null,
      proposal_id: version.proposalId ?? null,
      created_by: author,
      created_at: version.at,
      updated_by: author,
      updated_at: version.at,
    })
    .execute()
}

/**
 * Writes a new revision of a draft if it is still the draft and the revision that the writer saw. What `change` leaves out
 * stays as it is. Answers the new revision, or undefined when it is not that draft any more.
 */
export async function updateDraft(
  transaction: Transaction,
  id: Id<'version'>,
  seenRevision: number,
  change: { readonly content?: VersionContent; readonly texts?: Partial<VersionTexts> },
  author: Principal,
  at: Date,
): Promise<number | undefined> {
  const row = await transaction
    .updateTable('procedure_versions')
    .set((eb) => ({
      ...(change.content && contentColumns(change.content)),
      ...(change.texts && textColumns(change.texts)),
      revision: seenRevision + 1,
      author_ids: eb
        .case()
        .when(eb(eb.val(author.id), '=', eb.fn.any('author_ids')))
        .then(eb.ref('author_ids'))
        .else(eb.fn<string[]>('array_append', ['author_ids', eb.val(author.id)]))
        .end(),
      updated_by: canonicalJson(author),
      updated_at: at,
    }))
    .where('id', '=', id)
    .where('revision', '=', seenRevision)
    .where('status', '=', 'draft')
    .returning('revision')
    .executeTakeFirst()
  return row?.revision
}

/** Writes what was found in a draft, whose content stays as it is. */
export async function updateFindings(
  transaction: Transaction,
  id: Id<'version'>,
  findings: readonly Finding[],
): Promise<void> {
  await transaction
    .updateTable('procedure_versions')
    .set({ findings: canonicalJson(findings) })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Until the transaction ends nobody changes the version; others may keep it as it is as well. */
export async function lockVersion(transaction: Transaction, id: Id<'version'>): Promise<void> {
  await transaction
    .selectFrom('procedure_versions')
    .select('id')
    .where('id', '=', id)
    .forShare()
    .execute()
}

/** Makes a draft the one that serves, with what it was approved by. The caller holds the procedure's lock. */
export async function updateActivated(
  transaction: Transaction,
  id: Id<'version'>,
  approvalDigest: string | null,
): Promise<void> {
  await transaction
    .updateTable('procedure_versions')
    .set({ status: 'active', approval_digest: approvalDigest })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Moves a version to the next state of its life. The caller holds the procedure's lock. */
export async function updateVersionStatus(
  transaction: Transaction,
  id: Id<'version'>,
  status: VersionStatus,
): Promise<void> {
  await transaction
    .updateTable('procedure_versions')
    .set({ status })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Sets when a person is to look at a version again, whatever its state. */
export async function updateReviewBy(
  transaction: Transaction,
  id: Id<'version'>,
  reviewBy: Date | null,
): Promise<void> {
  await transaction
    .updateTable('procedure_versions')
    .set({ review_by: reviewBy })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Deletes a draft of the revision that was seen; false when it is not that any more. */
export async function deleteDraft(
  transaction: Transaction,
  id: Id<'version'>,
  seenRevision: number,
): Promise<boolean> {
  const row = await transaction
    .deleteFrom('procedure_versions')
    .where('id', '=', id)
    .where('revision', '=', seenRevision)
    .where('status', '=', 'draft')
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

function contentColumns(content: VersionContent): {
  readonly definition: string
  readonly definition_hash: string
  readonly summary: string
  readonly purpose: string
  readonly tool_contracts: string
  readonly findings: string
} {
  return {
    definition: canonicalJson(content.definition),
    definition_hash: content.definitionHash,
    summary: content.summary,
    purpose: content.purpose,
    tool_contracts: canonicalJson(content.toolContracts),
    findings: canonicalJson(content.findings),
  }
}

function textColumns({ source, scenariosSource }: Partial<VersionTexts>): {
  readonly source?: string | null
  readonly scenarios_source?: string | null
} {
  return {
    ...(source !== undefined && { source }),
    ...(scenariosSource !== undefined && { scenarios_source: scenariosSource }),
  }
}

type ListColumns = Pick<Selectable<ProcedureVersionsTable>, (typeof listColumns)[number]>

function toListItem(row: ListColumns): VersionListItem {
  return {
    id: row.id as Id<'version'>,
    procedureId: row.procedure_id as Id<'procedure'>,
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    status: row.status,
    name: row.name,
    category: row.category,
    definitionHash: row.definition_hash,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    reviewBy: row.review_by,
  }
}

function toVersion(
  row: Pick<Selectable<ProcedureVersionsTable>, (typeof versionColumns)[number]>,
): ProcedureVersion {
  return {
    ...toListItem(row),
    // Written only by `contentColumns`, from values of these types.
    definition: row.definition as unknown as Definition,
    toolContracts: row.tool_contracts as Readonly<Record<string, string>>,
    findings: row.findings as unknown as readonly Finding[],
    summary: row.summary,
    purpose: row.purpose,
    authorIds: row.author_ids,
    approvalDigest: row.approval_digest,
    proposalId: row.proposal_id as Id<'proposal'> | null,
  }
}
