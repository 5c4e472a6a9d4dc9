/** What came of a call of a tool, as it is recorded: `done`, `refused`, `failed`, `error`, `timeout`, `invalid`. */
export interface CalledTool {
  readonly tool: string
  readonly effect: 'read' | 'write'
  readonly result: string
  readonly seconds: number
}

/** Why a reply is the one that it is. */
export type ReplyCause =
  /** A model wrote it, and nothing in it was found to be wrong. */
  | 'written'
  | 'no_model'
  | 'missing_input'
  /** What the model wrote was refused. */
  | 'draft_refused'
  | 'model_failed'

/** What figures are read of the service when they are asked for. */
export interface FigureSource {
  /** Connections of this process to its database. */
  readonly pool: {
    readonly totalCount: number
    readonly idleCount: number
    readonly waitingCount: number
  }
  /** What the whole deployment has to do, by figure and label. */
  readonly figures: () => Promise<readonly Figure[]>
}

export interface Figure {
  readonly figure: string
  readonly label: string
  readonly value: number
}

/**
 * What happens, counted: one function for each event. None of them throws, and what they are told of has few values by
 * construction: no ids, no tenants, no keys of procedures (docs/decisions/0023-observability.md).
 */
export interface Meter {
  readonly requestEnded: (operation: string, status: number, seconds: number) => void
  readonly executionStarted: () => void
  /** A run is worked on by this process from now on, until the answer is called. */
  readonly runBegan: () => () => void
  /** `reason`: its code, or `none`. */
  readonly executionEnded: (status: string, reason: string) => void
  readonly stepEnded: (kind: string, status: string) => void
  readonly toolCalled: (called: CalledTool) => void
  readonly replied: (source: 'model' | 'built_in', cause: ReplyCause) => void
  readonly searched: (decision: string) => void
  readonly searchFellBack: () => void
  /** Executions of workers that are gone were made anybody's. */
  readonly leasesTakenOver: (count: number) => void
  readonly committed: (seconds: number) => void
  readonly messageSent: (result: 'delivered' | 'failed') => void
  /** What is read whenever somebody looks. */
  readonly readFrom: (source: FigureSource) => void
  /** Everything, in the text format of Prometheus. */
  readonly text: () => Promise<string>
  readonly contentType: string
}
