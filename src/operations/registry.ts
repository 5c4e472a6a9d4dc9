import { acceptProposal } from './accept-proposal.ts'
import { activateVersion } from './activate-version.ts'
import { addLesson } from './add-lesson.ts'
import { allowProcedure } from './allow-procedure.ts'
import { allowTool } from './allow-tool.ts'
import { answerStep } from './answer-step.ts'
import { approveStep } from './approve-step.ts'
import { assignEscalation } from './assign-escalation.ts'
import { backtestVersion } from './backtest-version.ts'
import { bundleExecution } from './bundle-execution.ts'
import { calibrateEmbeddings } from './calibrate-embeddings.ts'
import { cancelBacktest } from './cancel-backtest.ts'
import { cancelExecution } from './cancel-execution.ts'
import { cancelSchedule } from './cancel-schedule.ts'
import { changePrincipal } from './change-principal.ts'
import { changeWebhook } from './change-webhook.ts'
import { continueBacktest } from './continue-backtest.ts'
import { continueEmbeddingSwitch } from './continue-embedding-switch.ts'
import { createKey } from './create-key.ts'
import { createPrincipal } from './create-principal.ts'
import { createProcedure } from './create-procedure.ts'
import { createVersion } from './create-version.ts'
import { createWebhook } from './create-webhook.ts'
import { creditLessons } from './credit-lessons.ts'
import { curateLessons } from './curate-lessons.ts'
import { deleteDraft } from './delete-draft.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { denyStep } from './deny-step.ts'
import { deprecateVersion } from './deprecate-version.ts'
import { diffVersions } from './diff-versions.ts'
import { dismissProposal } from './dismiss-proposal.ts'
import { editDraft } from './edit-draft.ts'
import { editLesson } from './edit-lesson.ts'
import { eraseCustomer } from './erase-customer.ts'
import { exportAudit } from './export-audit.ts'
import { exportLessons } from './export-lessons.ts'
import { getApproval } from './get-approval.ts'
import { getBacktest } from './get-backtest.ts'
import { getCalendar } from './get-calendar.ts'
import { getEmbeddings } from './get-embeddings.ts'
import { getEscalation } from './get-escalation.ts'
import { getExecution } from './get-execution.ts'
import { getExperience } from './get-experience.ts'
import { getInsights } from './get-insights.ts'
import { getLessons } from './get-lessons.ts'
import { getProcedure } from './get-procedure.ts'
import { getProposal } from './get-proposal.ts'
import { getRetention } from './get-retention.ts'
import { getStats } from './get-stats.ts'
import { getTrackRecord } from './get-track-record.ts'
import { holdExecutions } from './hold-executions.ts'
import { importLessons } from './import-lessons.ts'
import { listAuditEvents } from './list-audit-events.ts'
import { listBacktests } from './list-backtests.ts'
import { listEscalations } from './list-escalations.ts'
import { listExecutions } from './list-executions.ts'
import { listExperiences } from './list-experiences.ts'
import { listGaps } from './list-gaps.ts'
import { listKeys } from './list-keys.ts'
import { listLessons } from './list-lessons.ts'
import { listPrincipals } from './list-principals.ts'
import { listProcedures } from './list-procedures.ts'
import { listProposals } from './list-proposals.ts'
import { listScenarios } from './list-scenarios.ts'
import { listSchedules } from './list-schedules.ts'
import { listTools } from './list-tools.ts'
import { listWaitingSteps } from './list-waiting-steps.ts'
import { listWebhookDeliveries } from './list-webhook-deliveries.ts'
import { listWebhooks } from './list-webhooks.ts'
import { makeCheckpoint } from './make-checkpoint.ts'
import { pauseExecution } from './pause-execution.ts'
import { proposeFromGap } from './propose-from-gap.ts'
import { proposeImprovement } from './propose-improvement.ts'
import { proposeProcedure } from './propose-procedure.ts'
import { pruneExperiences } from './prune-experiences.ts'
import { recordExecution } from './record-execution.ts'
import { recordExperience } from './record-experience.ts'
import { removeLesson } from './remove-lesson.ts'
import { replayExecution } from './replay-execution.ts'
import { replayWebhook } from './replay-webhook.ts'
import { replayWebhookDelivery } from './replay-webhook-delivery.ts'
import { resolveEscalation } from './resolve-escalation.ts'
import { resolveTicket } from './resolve-ticket.ts'
import { resumeExecution } from './resume-execution.ts'
import { retrieveExperiences } from './retrieve-experiences.ts'
import { reviewVersion } from './review-version.ts'
import { revokeKey } from './revoke-key.ts'
import { rollBackProcedure } from './roll-back-procedure.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { scheduleActivation } from './schedule-activation.ts'
import { sealExecutions } from './seal-executions.ts'
import { searchProcedures } from './search-procedures.ts'
import { setCalendar } from './set-calendar.ts'
import { setRetention } from './set-retention.ts'
import { setReviewBy } from './set-review-by.ts'
import { setScenarios } from './set-scenarios.ts'
import { showLessons } from './show-lessons.ts'
import { simulateVersion } from './simulate-version.ts'
import { startExecution } from './start-execution.ts'
import { stopProcedure } from './stop-procedure.ts'
import { stopTool } from './stop-tool.ts'
import { switchEmbeddings } from './switch-embeddings.ts'
import { testWebhook } from './test-webhook.ts'
import { verifyAudit } from './verify-audit.ts'
import { whoAmI } from './who-am-i.ts'

/** Everything that a caller may ask for. The front doors are made from this list. */
export const operations = {
  activateVersion,
  answerStep,
  approveStep,
  denyStep,
  listWaitingSteps,
  assignEscalation,
  calibrateEmbeddings,
  cancelExecution,
  continueEmbeddingSwitch,
  createProcedure,
  createVersion,
  deleteDraft,
  deprecateVersion,
  diffVersions,
  editDraft,
  getCalendar,
  whoAmI,
  getEmbeddings,
  getEscalation,
  getExecution,
  getProcedure,
  getStats,
  holdExecutions,
  listEscalations,
  listExecutions,
  listProcedures,
  listScenarios,
  pauseExecution,
  replayExecution,
  resolveEscalation,
  resolveTicket,
  resumeExecution,
  searchProcedures,
  setScenarios,
  simulateVersion,
  backtestVersion,
  continueBacktest,
  cancelBacktest,
  getBacktest,
  listBacktests,
  getInsights,
  getTrackRecord,
  recordExecution,
  setCalendar,
  startExecution,
  switchEmbeddings,
  changePrincipal,
  createKey,
  createPrincipal,
  getApproval,
  listKeys,
  listPrincipals,
  reviewVersion,
  revokeKey,
  bundleExecution,
  exportAudit,
  listAuditEvents,
  makeCheckpoint,
  sealExecutions,
  verifyAudit,
  eraseCustomer,
  getRetention,
  setRetention,
  stopProcedure,
  allowProcedure,
  stopTool,
  allowTool,
  listTools,
  scheduleActivation,
  rollBackProcedure,
  setReviewBy,
  cancelSchedule,
  listSchedules,
  createWebhook,
  listWebhooks,
  changeWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  listWebhookDeliveries,
  replayWebhookDelivery,
  replayWebhook,
  testWebhook,
  recordExperience,
  retrieveExperiences,
  listExperiences,
  getExperience,
  pruneExperiences,
  listLessons,
  getLessons,
  showLessons,
  curateLessons,
  creditLessons,
  addLesson,
  editLesson,
  removeLesson,
  importLessons,
  exportLessons,
  proposeProcedure,
  proposeImprovement,
  listProposals,
  getProposal,
  acceptProposal,
  dismissProposal,
  listGaps,
  proposeFromGap,
} as const
