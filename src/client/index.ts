export { type ErrorCode, type ErrorKind, isServiceError, ServiceError } from '../domain/errors.ts'
export type {
  GuidedAnswer,
  LearnedAnswer,
  ManualAnswer,
  ProcedureAnswer,
} from '../guided/answer.ts'
export { createGuidedAgent, type GuidedAgent } from '../guided/guided-agent.ts'
export type { Loop, LoopEnd, LoopTask } from '../guided/loop.ts'
export type { GuidedAgentOptions, GuidedClient, TaskOptions } from '../guided/options.ts'
export type { Client } from '../library.ts'
export { type ClientOptions, connectStepwarden } from './client.ts'
export { type ExecutionEvent, followExecution } from './follow-execution.ts'
