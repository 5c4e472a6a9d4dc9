import type { Type } from '../domain/expression.ts'
import type { JsonSchema } from '../domain/json.ts'

/** What a caller relies on of the version of a procedure that it would call. */
export interface CalledProcedure {
  /** The JSON Schema of its input; absent: any object. */
  readonly input?: JsonSchema | undefined
  /** The type of its result when it resolves. */
  readonly output: Type
  /** Whether it may end declined, with a result of another shape. */
  readonly mayDecline: boolean
  /** Keys of the procedures that it calls itself. */
  readonly calls: readonly string[]
}

/**
 * The version that a call would run now: the active one. `none` when the procedure does not exist or never was active;
 * `unknown` when that cannot be told here, so that nothing is said of the call.
 */
export type FindProcedure = (key: string) => CalledProcedure | 'none' | 'unknown'
