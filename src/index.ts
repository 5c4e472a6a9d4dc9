export type { DatabaseConfig } from './config/config.ts'
export type { Change } from './diff/change.ts'
export { defineTool } from './domain/define-tool.ts'
export type { Definition } from './domain/definition.ts'
export { type ErrorCode, type ErrorKind, isServiceError, ServiceError } from './domain/errors.ts'
export type { Reason, ReasonCode } from './domain/escalation.ts'
export type { StepRow, Ticket } from './domain/execution.ts'
export { type ImportedDefinition, importDefinition } from './domain/import-definition.ts'
export type { Principal, Role } from './domain/principal.ts'
export type { Step } from './domain/step.ts'
export { type Tool, type ToolContext, ToolFailed, ToolRefused } from './domain/tool.ts'
export type {
  GuidedAnswer,
  LearnedAnswer,
  ManualAnswer,
  ProcedureAnswer,
} from './guided/answer.ts'
export { createGuidedAgent, type GuidedAgent } from './guided/guided-agent.ts'
export type { Loop, LoopEnd, LoopTask } from './guided/loop.ts'
export type { GuidedAgentOptions, GuidedClient, TaskOptions } from './guided/options.ts'
export {
  createTaskRecorder,
  type RecorderClient,
  type RecorderOptions,
  type TaskRecorder,
} from './learning/experience-recorder.ts'
export {
  beginLessonRun,
  type LessonClient,
  type LessonRun,
  type LessonSwitches,
  type RunEnd,
} from './learning/lesson-book.ts'
export { lessonTag } from './learning/lesson-tag.ts'
export {
  type Client,
  createStepwarden,
  type Stepwarden,
  type StepwardenOptions,
} from './library.ts'
export type { ReplyModel } from './reply/model.ts'
export type { Embedder } from './search/embedder.ts'
export type { SourceDeclaration } from './tool-sources/source-shape.ts'
