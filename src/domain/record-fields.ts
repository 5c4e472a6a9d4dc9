/**
 * How the audit covers a column.
 *
 * - `structural`: it stands in the record as it is.
 * - `personal`: it stands in the record as a salted digest, and may be erased.
 * - `apart`: a digest of it that is in the record proves it, and evidence never has it.
 * - `operational`: it is not in the record, because it follows from others or changes after the record is made.
 *
 * docs/decisions/0016-seals.md says what goes by it for ever.
 */
export type FieldClass = 'structural' | 'personal' | 'apart' | 'operational'

type Fields = Readonly<Record<string, FieldClass>>

/** The tables that a sealed record is made of, record version 1. */
export const runFields = {
  executions: {
    tenant_id: 'structural',
    id: 'structural',
    procedure_id: 'structural',
    procedure_key: 'structural',
    version_id: 'structural',
    version_number: 'structural',
    definition_hash: 'structural',
    semantics_version: 'structural',
    durability: 'structural',
    mode: 'structural',
    input: 'personal',
    ticket: 'personal',
    context: 'personal',
    customer_id: 'personal',
    ticket_id: 'personal',
    requester: 'structural',
    on_behalf_of: 'personal',
    idempotency_key: 'personal',
    request_hash: 'personal',
    pins: 'structural',
    tool_contracts: 'structural',
    created_at: 'structural',
    started_at: 'structural',
    fence: 'structural',
    take_over_count: 'structural',
    worker_id: 'structural',
    cancel_requested_at: 'structural',
    pause_requested_at: 'structural',
    status: 'structural',
    revision: 'structural',
    outcome: 'structural',
    reason: 'personal',
    reason_code: 'structural',
    result: 'personal',
    conditions: 'personal',
    ended_at: 'structural',
    wake_at: 'structural',
    selection: 'personal',
    input_sources: 'structural',
    parent_id: 'structural',
    parent_ordinal: 'structural',
    root_id: 'structural',
    call_path: 'structural',
    calendar: 'structural',
    due_at: 'structural',
    due_warn_at: 'structural',
    pauses: 'structural',
  },
  step_executions: {
    tenant_id: 'structural',
    execution_id: 'structural',
    ordinal: 'structural',
    step_key: 'structural',
    iteration: 'structural',
    kind: 'structural',
    status: 'structural',
    attempt: 'structural',
    input: 'personal',
    output: 'personal',
    error: 'personal',
    attempts: 'personal',
    exchange: 'personal',
    tool: 'structural',
    started_at: 'structural',
    ended_at: 'structural',
    revision: 'structural',
  },
  replies: {
    tenant_id: 'structural',
    execution_id: 'structural',
    text: 'personal',
    source: 'structural',
    facts: 'personal',
    verification: 'personal',
    created_at: 'structural',
  },
  // As it was opened. What became of it since is in the events of those acts.
  escalations: {
    tenant_id: 'structural',
    id: 'structural',
    execution_id: 'structural',
    reason: 'personal',
    reason_code: 'structural',
    ticket: 'personal',
    opened_at: 'structural',
    queue: 'operational',
    priority: 'operational',
    status: 'operational',
    assignee: 'operational',
    late_outcomes: 'operational',
    resolution: 'operational',
    assigned_at: 'operational',
    resolved_at: 'operational',
  },
  sensitive_values: {
    tenant_id: 'structural',
    execution_id: 'structural',
    ordinal: 'structural',
    part: 'structural',
    pointer: 'structural',
    is_whole: 'structural',
    digest: 'structural',
    salt: 'apart',
    value: 'apart',
  },
} as const satisfies Readonly<Record<string, Fields>>

/**
 * The tables whose rows have a hash in the events of the acts that wrote them, record version 1. One that is added here is
 * read by `listRowLines` and `findRunOrigin`, and hashed by `findRecordHashes`, of src/db/queries/.
 */
export const actFields = {
  procedure_versions: {
    tenant_id: 'structural',
    id: 'structural',
    procedure_id: 'structural',
    version_number: 'structural',
    // It follows from the events, and is compared with them.
    status: 'operational',
    definition: 'structural',
    definition_hash: 'structural',
    summary: 'structural',
    purpose: 'structural',
    tool_contracts: 'structural',
    findings: 'structural',
    revision: 'structural',
    author_ids: 'structural',
    based_on_version_id: 'structural',
    created_by: 'structural',
    created_at: 'structural',
    updated_by: 'structural',
    updated_at: 'structural',
    approval_digest: 'structural',
    source: 'structural',
    scenarios_source: 'structural',
    review_by: 'structural',
    // The event of its acceptance names the version.
    proposal_id: 'operational',
    // The database makes these from the definition.
    procedure_key: 'structural',
    name: 'operational',
    description: 'operational',
    category: 'operational',
    issue_patterns: 'operational',
    internal: 'operational',
  },
  reviews: {
    tenant_id: 'structural',
    id: 'structural',
    seq: 'structural',
    procedure_id: 'structural',
    version_id: 'structural',
    digest: 'structural',
    parts: 'structural',
    content: 'structural',
    verdict: 'structural',
    comment: 'structural',
    acknowledged: 'structural',
    reviewer_id: 'structural',
    reviewer: 'structural',
    at: 'structural',
  },
  activations: {
    tenant_id: 'structural',
    id: 'structural',
    procedure_id: 'structural',
    version_id: 'structural',
    active_from: 'structural',
    active_until: 'structural',
    activated_by: 'structural',
    deactivated_by: 'structural',
  },
} as const satisfies Readonly<Record<string, Fields>>

/**
 * The tables whose rows have no hash, and are compared with what the events of their acts say: with these columns, which
 * evidence has of them.
 */
export const stateColumns = {
  procedures: ['id', 'key'],
  principals: ['id', 'kind', 'name', 'roles', 'groups', 'created_at', 'disabled_at'],
  api_keys: ['id', 'principal_id', 'name', 'created_at', 'expires_at', 'revoked_at'],
  kill_switches: [
    'id',
    'kind',
    'name',
    'reason',
    'engaged_by',
    'engaged_at',
    'lifted_by',
    'lifted_at',
  ],
  tenants: ['id', 'retention_days', 'calendar'],
  governance: ['required_approvals'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type StateTable = keyof typeof stateColumns

/** Every other table, with what stands for it or why nothing does. */
export const otherTables: Readonly<Record<string, string>> = {
  audit_events: 'each covers the one before it and all columns of its own',
  audit_heads: 'compared with the last event',
  scenarios: 'part of the record of their version',
  tool_contracts: 'their hash is their key, and the record of a version names it',
  seals: 'compared with the event of the seal',
  sealed_records: 'the records give the root of their seal',
  record_salts: 'another salt gives other digests',
  erased_records: 'other digests give another record',
  checkpoints: 'signed',
  erasures: 'not compared; every batch of one is an event',
  erased_tickets: 'not compared; named by the event of their erasure',
  procedures: 'compared with the versions and with the events that name them',
  principals:
    'compared with the events of their changes, and each record has its own principal whole',
  api_keys: 'compared with the events of their changes, but for the hash of the key',
  governance: 'compared with the event of its last change',
  tenants: 'retention and calendar are compared with the events of their changes; the name is not',
  seal_cursors: 'where sealing goes on; every run is found without it',
  seal_waiting: 'where sealing goes on; every run is found without it',
  embedding_models: 'not compared; settings, whose changes are events',
  version_embeddings: 'made from the version',
  example_vectors: 'made from the version',
  literal_patterns: 'made from the version',
  version_calls: 'made from the version',
  kill_switches: 'compared with the events that engage and lift them',
  execution_holds: 'made from the switches',
  activation_schedules: 'not compared; making and ending one are events, and so is the activation',
  limit_counters: 'counted from the runs',
  backtests: 'a reckoning that can be made again',
  backtest_runs: 'a reckoning that can be made again',
  coverage_gaps: 'nothing ran',
  ticket_embeddings: 'made from the tickets',
  workers: 'of no lasting meaning',
  experiences: 'what agents have learned: nothing that was approved or run follows from it',
  experience_embeddings: 'made from the experiences',
  experience_recalls: 'what was measured of an index',
  experience_holds: 'what still needs an experience',
  experience_cursors: 'how far a chore has come',
  proposals: 'suggestions; making, accepting and dismissing one are events',
  proposal_sources: 'whose words a proposal has, for erasures',
  lessons:
    'hints for agents: nothing that was approved or run follows from them; what people write is an event',
  lesson_sets: 'counts of the lessons',
  lesson_showings: 'who was shown which lessons, for some days',
  webhooks: 'settings, whose changes are events',
  webhook_secrets: 'what is signed with, and never shown again',
  webhook_deliveries: 'copies of states for others, kept for a month',
  desk_refunds: 'the world of the demo, not the record',
  desk_messages: 'the world of the demo, not the record',
  migrations: 'the schema, not the record',
}

export type RunTable = keyof typeof runFields
export type ActTable = keyof typeof actFields
export type CoveredTable = RunTable | ActTable

const columnsByTable = new Map(
  Object.entries({ ...runFields, ...actFields }).map(([table, fields]) => [
    table,
    coveredOf(fields),
  ]),
)

/** The columns of a table that its record covers, in the order of the list. */
export function coveredColumns(
  table: CoveredTable,
): readonly (readonly [column: string, kind: 'structural' | 'personal'])[] {
  return columnsByTable.get(table) ?? []
}

/** The columns of a row in evidence that nothing proves: those that are neither in its record nor follow from events. */
export function findStrayColumns(
  table: CoveredTable | StateTable | 'tool_contracts',
  row: Readonly<Record<string, unknown>>,
): readonly string[] {
  const known = knownColumns.get(table)
  return Object.keys(row).filter((column) => known?.has(column) !== true)
}

const knownColumns: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...Object.entries({ ...runFields, ...actFields }).map(([table, fields]) => {
    const proved = Object.entries(fields).flatMap(([column, kind]) =>
      kind === 'operational' ? [] : [column],
    )
    return [table, new Set(proved)] as const
  }),
  ...Object.entries(stateColumns).map(
    ([table, columns]) => [table, new Set<string>(columns)] as const,
  ),
  ['tool_contracts', new Set(['hash', 'name', 'contract'])] as const,
])

function coveredOf(fields: Fields) {
  return Object.entries(fields).flatMap(([column, kind]) =>
    kind === 'structural' || kind === 'personal' ? [[column, kind] as const] : [],
  )
}
