import type { Client } from '../library.ts'

export type Selection = Awaited<ReturnType<Client['searchProcedures']>>
type Record = Awaited<ReturnType<Client['getTrackRecord']>>

/** A playbook above this rate runs by itself. */
const minSuccessRate = 0.7

/** A playbook that is to run, and how. */
export interface Choice {
  readonly procedureKey: string
  readonly procedureName: string
  readonly mode: 'automatic' | 'guided'
}

/**
 * The keys of the playbooks that may be run for what was searched, the best first: the selected one; of several that are near
 * equals none, unless the caller takes the `top`, and then those that are qualified, as the search has ordered them.
 */
export function eligibleKeys(
  { decision, procedureKey, candidates }: Selection,
  onAmbiguous: 'ask' | 'top',
): readonly string[] {
  if (decision === 'selected' && procedureKey !== null) return [procedureKey]
  if (decision !== 'ambiguous' || onAmbiguous === 'ask') return []
  return candidates
    .filter(({ qualified, withinMargin }) => qualified && withinMargin)
    .map((candidate) => candidate.procedureKey)
}

/**
 * How the active version is to be run by its record, undefined for not at all. Its own record decides where it has one.
 * Without one its predecessor's good record lets it run by itself; a bad one, which it may be there to mend, or none at all
 * does not keep it from a record of its own, and it runs guided.
 */
export function modeOf(standing: Record['standing']): Choice['mode'] | undefined {
  if (standing === null) return undefined
  const { versionNumber, recordOf, successRate } = standing
  if (successRate !== null && successRate > minSuccessRate) return 'automatic'
  return recordOf === versionNumber ? undefined : 'guided'
}
