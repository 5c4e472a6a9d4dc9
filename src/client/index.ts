export { type ErrorCode, type ErrorKind, isServiceError, ServiceError } from '../domain/errors.ts'
export type { Client } from '../library.ts'
export { type ClientOptions, connectStepwarden } from './client.ts'
export { type ExecutionEvent, followExecution } from './follow-execution.ts'
