import type { operations } from '../operations/registry.ts'

export type OperationName = keyof typeof operations
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Every operation has its place here: a `GET` reads and takes the rest of its input from the query, `PUT` replaces, `DELETE`
 * removes, `POST` does all else. A verb at the end is an act on what stands before it.
 */
export const places: Readonly<Record<OperationName, string | readonly string[]>> = {
  listProcedures: 'GET /procedures',
  createProcedure: 'POST /procedures',
  getProcedure: [
    'GET /procedures/{procedureKey}',
    'GET /procedures/{procedureKey}/versions/{versionNumber}',
  ],
  createVersion: 'POST /procedures/{procedureKey}/versions',
  editDraft: 'PUT /procedures/{procedureKey}/versions/{versionNumber}',
  deleteDraft: 'DELETE /procedures/{procedureKey}/versions/{versionNumber}',
  listScenarios: 'GET /procedures/{procedureKey}/scenarios',
  setScenarios: 'PUT /procedures/{procedureKey}/versions/{versionNumber}/scenarios',
  diffVersions: 'POST /procedures/{procedureKey}/diff',
  simulateVersion: 'POST /procedures/{procedureKey}/simulate',
  getApproval: 'GET /procedures/{procedureKey}/versions/{versionNumber}/approval',
  reviewVersion: 'POST /procedures/{procedureKey}/versions/{versionNumber}/reviews',
  activateVersion: 'POST /procedures/{procedureKey}/versions/{versionNumber}/activate',
  deprecateVersion: 'POST /procedures/{procedureKey}/versions/{versionNumber}/deprecate',
  setReviewBy: 'PUT /procedures/{procedureKey}/versions/{versionNumber}/review-by',
  rollBackProcedure: 'POST /procedures/{procedureKey}/roll-back',
  stopProcedure: 'POST /procedures/{procedureKey}/stop',
  allowProcedure: 'POST /procedures/{procedureKey}/allow',
  scheduleActivation: 'POST /procedures/{procedureKey}/versions/{versionNumber}/schedules',
  listSchedules: 'GET /schedules',
  cancelSchedule: 'DELETE /schedules/{scheduleId}',
  backtestVersion: 'POST /procedures/{procedureKey}/versions/{versionNumber}/backtests',
  listBacktests: 'GET /procedures/{procedureKey}/versions/{versionNumber}/backtests',
  getBacktest: 'GET /backtests/{backtestId}',
  continueBacktest: 'POST /backtests/{backtestId}/continue',
  cancelBacktest: 'POST /backtests/{backtestId}/cancel',
  getTrackRecord: 'GET /procedures/{procedureKey}/record',
  getInsights: 'GET /insights',
  getStats: 'GET /stats',

  searchProcedures: 'POST /search',
  resolveTicket: 'POST /resolve',
  startExecution: 'POST /executions',
  listExecutions: 'GET /executions',
  getExecution: 'GET /executions/{executionId}',
  recordExecution: 'POST /outside-executions',
  cancelExecution: 'POST /executions/{executionId}/cancel',
  pauseExecution: 'POST /executions/{executionId}/pause',
  resumeExecution: 'POST /executions/{executionId}/resume',
  replayExecution: 'POST /executions/{executionId}/replay',
  bundleExecution: 'GET /executions/{executionId}/bundle',
  holdExecutions: 'POST /executions/hold',
  listWaitingSteps: 'GET /waiting-steps',
  answerStep: 'POST /executions/{executionId}/steps/{step}/answer',
  approveStep: 'POST /executions/{executionId}/steps/{step}/approve',
  denyStep: 'POST /executions/{executionId}/steps/{step}/deny',
  listEscalations: 'GET /escalations',
  getEscalation: 'GET /escalations/{escalationId}',
  assignEscalation: 'POST /escalations/{escalationId}/assign',
  resolveEscalation: 'POST /escalations/{escalationId}/resolve',

  listTools: 'GET /tools',
  stopTool: 'POST /tools/{tool}/stop',
  allowTool: 'POST /tools/{tool}/allow',
  whoAmI: 'GET /me',
  getCalendar: 'GET /calendar',
  setCalendar: 'PUT /calendar',
  getEmbeddings: 'GET /embeddings',
  calibrateEmbeddings: 'POST /embeddings/calibrate',
  switchEmbeddings: 'POST /embeddings/switch',
  continueEmbeddingSwitch: 'POST /embeddings/continue',
  listPrincipals: 'GET /principals',
  createPrincipal: 'POST /principals',
  changePrincipal: 'PATCH /principals/{principalId}',
  listKeys: 'GET /keys',
  createKey: 'POST /keys',
  revokeKey: 'DELETE /keys/{keyId}',

  listWebhooks: 'GET /webhooks',
  createWebhook: 'POST /webhooks',
  changeWebhook: 'PATCH /webhooks/{webhookId}',
  deleteWebhook: 'DELETE /webhooks/{webhookId}',
  rotateWebhookSecret: 'POST /webhooks/{webhookId}/rotate',
  testWebhook: 'POST /webhooks/{webhookId}/test',
  replayWebhook: 'POST /webhooks/{webhookId}/replay',
  listWebhookDeliveries: 'GET /webhooks/{webhookId}/deliveries',
  replayWebhookDelivery: 'POST /deliveries/{deliveryId}/replay',

  listExperiences: 'GET /experiences',
  recordExperience: 'POST /experiences',
  retrieveExperiences: 'POST /experiences/retrieve',
  getExperience: 'GET /experiences/{experienceId}',
  pruneExperiences: 'POST /experiences/prune',
  listLessons: 'GET /lessons',
  getLessons: 'GET /lessons/{taskTag}',
  showLessons: 'POST /lessons/{taskTag}/show',
  curateLessons: 'POST /lessons/{taskTag}/curate',
  creditLessons: 'POST /lesson-showings/{showingId}/credit',
  addLesson: 'POST /lessons/{taskTag}/lines',
  editLesson: 'PATCH /lesson-lines/{lessonId}',
  removeLesson: 'DELETE /lesson-lines/{lessonId}',
  importLessons: 'POST /lessons/{taskTag}/import',
  exportLessons: 'POST /lessons/{taskTag}/export',
  listProposals: 'GET /proposals',
  proposeProcedure: 'POST /proposals',
  proposeImprovement: 'POST /proposals/improve',
  getProposal: 'GET /proposals/{proposalId}',
  acceptProposal: 'POST /proposals/{proposalId}/accept',
  dismissProposal: 'POST /proposals/{proposalId}/dismiss',

  listAuditEvents: 'GET /audit/events',
  verifyAudit: 'POST /audit/verify',
  sealExecutions: 'POST /audit/seal',
  makeCheckpoint: 'POST /audit/checkpoints',
  exportAudit: 'POST /audit/export',
  eraseCustomer: 'POST /erasures',
  getRetention: 'GET /retention',
  setRetention: 'PUT /retention',
}

/** Fields of the input that are headers of the request. */
export const headerOfField: ReadonlyMap<string, string> = new Map([
  ['idempotencyKey', 'Idempotency-Key'],
  ['revision', 'If-Match'],
])

/** Methods whose fields stand in the query; those of the others are in the body. */
export function takesQuery(method: Method): boolean {
  return method === 'GET' || method === 'DELETE'
}
