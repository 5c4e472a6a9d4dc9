import { apply } from './apply-command.ts'
import { auditCommands } from './audit-commands.ts'
import { backtestCommands } from './backtest-commands.ts'
import { calendarCommands } from './calendar-commands.ts'
import { check } from './check-command.ts'
import type { Command } from './command.ts'
import { demo } from './demo.ts'
import { diff } from './diff-command.ts'
import { embeddingCommands } from './embedding-commands.ts'
import { erasureCommands } from './erasure-commands.ts'
import { escalationCommands } from './escalation-commands.ts'
import { executionCommands } from './execution-commands.ts'
import { experienceCommands } from './experience-commands.ts'
import { exportProcedures } from './export-command.ts'
import { gapCommands } from './gap-commands.ts'
import { insights } from './insights-command.ts'
import { lessonCommands } from './lesson-commands.ts'
import { mcp } from './mcp-command.ts'
import { recordOutside } from './outside-command.ts'
import { principalCommands } from './principal-commands.ts'
import { procedureCommands } from './procedure-commands.ts'
import { proposalCommands } from './proposal-commands.ts'
import { reviewCommands } from './review-commands.ts'
import { scenarioCommands } from './scenario-commands.ts'
import { scheduleCommands } from './schedule-commands.ts'
import { serve } from './serve.ts'
import { serviceCommands } from './service-commands.ts'
import { simulate } from './simulate-command.ts'
import { switchCommands } from './switch-commands.ts'
import { tenantCommands } from './tenant-commands.ts'
import { ticketCommands } from './ticket-commands.ts'
import { trackRecord } from './track-record-command.ts'
import { webhookCommands } from './webhook-commands.ts'
import { worker } from './worker.ts'

/** Every command, in the order of the help. The session knows them all, and is one more. */
export const commands: readonly Command[] = [
  demo,
  ...ticketCommands,
  ...procedureCommands,
  ...reviewCommands,
  ...scheduleCommands,
  ...switchCommands,
  ...scenarioCommands,
  check,
  simulate,
  ...backtestCommands,
  insights,
  trackRecord,
  diff,
  apply,
  exportProcedures,
  ...executionCommands,
  recordOutside,
  ...escalationCommands,
  ...embeddingCommands,
  ...calendarCommands,
  ...principalCommands,
  ...tenantCommands,
  ...auditCommands,
  ...erasureCommands,
  ...webhookCommands,
  ...experienceCommands,
  ...lessonCommands,
  ...proposalCommands,
  ...gapCommands,
  serve,
  worker,
  mcp,
  ...serviceCommands,
]
