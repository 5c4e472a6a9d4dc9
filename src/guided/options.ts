import type { Client } from '../library.ts'
import type { Loop } from './loop.ts'

/** The operations that a guided agent asks for; both clients have them. */
export type GuidedClient = Pick<
  Client,
  | 'whoAmI'
  | 'searchProcedures'
  | 'getTrackRecord'
  | 'resolveTicket'
  | 'getExecution'
  | 'retrieveExperiences'
  | 'recordExperience'
  | 'showLessons'
  | 'creditLessons'
  | 'curateLessons'
  | 'proposeProcedure'
>

export interface GuidedAgentOptions {
  /** The caller's own way to do a task that no playbook does. */
  readonly loop: Loop
  /** Whose experiences and lessons they are; default: the id of the principal. */
  readonly agentName?: string
  /** Shared by agents with the same kind of task; default: the agent's name. */
  readonly taskTag?: string
  /** `top` runs the best of several near equals, if its record is good; default `ask`: the loop gets the task. */
  readonly onAmbiguous?: 'ask' | 'top'
  /** Whether what the loop did well is proposed as a draft; default true. */
  readonly propose?: boolean
}

/** What is known of one task besides its text. */
export interface TaskOptions {
  readonly customerId?: string
  readonly ticketId?: string
  readonly sessionId?: string
  readonly category?: string
  /** The same key and task never start a second run. */
  readonly idempotencyKey?: string
  /** Ends the waiting for the loop. A run of a playbook that has begun goes on by itself. */
  readonly signal?: AbortSignal
}
