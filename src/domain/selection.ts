/** One of the versions that search had before it when a procedure was chosen. */
export interface ConsideredVersion {
  readonly procedureKey: string
  readonly versionNumber: number
  /** 1 − cosine distance, by the model of the selection. */
  readonly similarity: number
  /** One of its issue patterns stands in the issue or its context. */
  readonly literal: boolean
  /** Success rate × min(runs / 10, 1) at that time. */
  readonly trackScore: number
}

/** How the procedure of a run was chosen for its ticket, as it is kept with the run. */
export interface SelectionRecord {
  /** `person`: the caller named the procedure, whatever the search answered. */
  readonly chosenBy: 'search' | 'person'
  /** What the search answered. */
  readonly decision: 'selected' | 'ambiguous' | 'no_match'
  readonly model: string
  /** The model in use did not answer, and this is the offline one. */
  readonly fellBack: boolean
  readonly minSimilarity: number
  readonly margin: number
  /** The first three of the search's answer, in its order. */
  readonly candidates: readonly ConsideredVersion[]
}
