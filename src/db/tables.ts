import type { Generated } from 'kysely'
import type { ApiKeysTable, GovernanceTable, PrincipalsTable, TenantsTable } from './rows/access.ts'
import type {
  AuditEventsTable,
  AuditHeadsTable,
  CheckpointsTable,
  ErasedRecordsTable,
  ErasedTicketsTable,
  ErasuresTable,
  RecordSaltsTable,
  SealCursorsTable,
  SealedRecordsTable,
  SealsTable,
  SealWaitingTable,
} from './rows/audit.ts'
import type { DeskMessagesTable, DeskRefundsTable } from './rows/desk.ts'
import type {
  CoverageGapsTable,
  EscalationsTable,
  ExecutionHoldsTable,
  ExecutionsTable,
  KillSwitchesTable,
  LimitCountersTable,
  RepliesTable,
  SensitiveValuesTable,
  StepExecutionsTable,
  WorkersTable,
} from './rows/executions.ts'
import type {
  ExperienceCursorsTable,
  ExperienceEmbeddingsTable,
  ExperienceHoldsTable,
  ExperienceRecallsTable,
  ExperiencesTable,
} from './rows/experiences.ts'
import type { LessonSetsTable, LessonShowingsTable, LessonsTable } from './rows/lessons.ts'
import type { OutsideExecutionsTable } from './rows/outside-executions.ts'
import type {
  ActivationSchedulesTable,
  ActivationsTable,
  BacktestRunsTable,
  BacktestsTable,
  ProceduresTable,
  ProcedureVersionsTable,
  ReviewsTable,
  ScenariosTable,
  ToolContractsTable,
  VersionCallsTable,
} from './rows/procedures.ts'
import type { ProposalSourcesTable, ProposalsTable } from './rows/proposals.ts'
import type {
  EmbeddingModelsTable,
  ExampleVectorsTable,
  LiteralPatternsTable,
  TicketEmbeddingsTable,
  VersionEmbeddingsTable,
} from './rows/search.ts'
import type { WebhookDeliveriesTable, WebhookSecretsTable, WebhooksTable } from './rows/webhooks.ts'

/**
 * Row types: one interface per table, in the database's own names. A test holds them equal to the live catalog.
 *
 * Every table but `embedding_models`, `workers`, `governance` and `migrations` shows and accepts only the rows of the tenant that
 * the connection is tagged with. Instants are `Date`s with milliseconds; `bigint` columns are numbers below 2^53.
 */
export interface Tables {
  tenants: TenantsTable
  principals: PrincipalsTable
  api_keys: ApiKeysTable
  governance: GovernanceTable
  audit_heads: AuditHeadsTable
  audit_events: AuditEventsTable
  procedures: ProceduresTable
  procedure_versions: ProcedureVersionsTable
  scenarios: ScenariosTable
  tool_contracts: ToolContractsTable
  activations: ActivationsTable
  reviews: ReviewsTable
  embedding_models: EmbeddingModelsTable
  version_embeddings: VersionEmbeddingsTable
  literal_patterns: LiteralPatternsTable
  version_calls: VersionCallsTable
  executions: ExecutionsTable
  limit_counters: LimitCountersTable
  step_executions: StepExecutionsTable
  sensitive_values: SensitiveValuesTable
  workers: WorkersTable
  kill_switches: KillSwitchesTable
  execution_holds: ExecutionHoldsTable
  activation_schedules: ActivationSchedulesTable
  example_vectors: ExampleVectorsTable
  escalations: EscalationsTable
  coverage_gaps: CoverageGapsTable
  ticket_embeddings: TicketEmbeddingsTable
  replies: RepliesTable
  backtests: BacktestsTable
  backtest_runs: BacktestRunsTable
  seals: SealsTable
  sealed_records: SealedRecordsTable
  record_salts: RecordSaltsTable
  erased_records: ErasedRecordsTable
  seal_cursors: SealCursorsTable
  seal_waiting: SealWaitingTable
  checkpoints: CheckpointsTable
  erasures: ErasuresTable
  erased_tickets: ErasedTicketsTable
  webhooks: WebhooksTable
  webhook_secrets: WebhookSecretsTable
  webhook_deliveries: WebhookDeliveriesTable
  experiences: ExperiencesTable
  experience_embeddings: ExperienceEmbeddingsTable
  experience_recalls: ExperienceRecallsTable
  experience_holds: ExperienceHoldsTable
  experience_cursors: ExperienceCursorsTable
  lesson_sets: LessonSetsTable
  lessons: LessonsTable
  lesson_showings: LessonShowingsTable
  proposals: ProposalsTable
  proposal_sources: ProposalSourcesTable
  outside_executions: OutsideExecutionsTable
  desk_refunds: DeskRefundsTable
  desk_messages: DeskMessagesTable
  migrations: MigrationsTable
}

/** A migration that was applied, and the oldest code that can work with the schema since. Not per tenant. */
export interface MigrationsTable {
  name: string
  applied_at: Generated<Date>
  min_code_version: string
}
