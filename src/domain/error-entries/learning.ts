import { define, type Problems, problemLines } from './entry.ts'

/** What agents learn from. */
export const learning = {
  EXPERIENCE_NOT_FOUND: define<{ experienceId: string }>(
    'not_found',
    (d) =>
      `There is no experience ${d.experienceId}. 'stepwarden experiences list' shows which there are; one that was pruned or erased is gone.`,
  ),
  PROPOSAL_NOT_FOUND: define<{ proposalId: string }>(
    'not_found',
    (d) =>
      `There is no proposal ${d.proposalId}. 'stepwarden proposals list' shows which are open; with --status those that were decided.`,
  ),
  PROPOSAL_NOT_OPEN: define<{ proposalId: string; status: string; by: string; at: string }>(
    'conflict',
    (d) =>
      `Proposal ${d.proposalId} was ${d.status} by ${d.by} at ${d.at}, and is decided once. Write a draft by hand if you want it after all.`,
  ),
  PROPOSAL_ERASED: define<{ proposalId: string; at: string }>(
    'conflict',
    (d) =>
      `What proposal ${d.proposalId} said was erased at ${d.at}, because it came from what somebody had said whose data was erased. Dismiss it; what is left can propose anew.`,
  ),
  PROPOSAL_BASE_STALE: define<{
    proposalId: string
    procedureKey: string
    base: number | null
    newest: number | null
  }>(
    'conflict',
    (d) =>
      `Proposal ${d.proposalId} improves ${d.base === null ? 'a version that was deleted' : `version ${d.base}`} of ${d.procedureKey}, and the newest is ${d.newest ?? 'none'}. Compare the two; to make the draft nevertheless, ask with rebase (--rebase): it then has nothing of what was changed since.`,
  ),
  PROPOSAL_NEEDS_PERSON: define<{ id: string; kind: string }>(
    'forbidden',
    (d) =>
      `Proposals are accepted and dismissed by people, and '${d.id}' is of kind '${d.kind}'. It may propose.`,
  ),
  GAP_NOT_FOUND: define<{ escalationId: string }>(
    'not_found',
    (d) =>
      `No gap of the period has the ticket ${d.escalationId}. 'stepwarden gaps list' shows those that there are; name any ticket of one, with the same period.`,
  ),
  PROPOSAL_NOT_LEARNED: define<Problems>(
    'unprocessable',
    (d) => `Nothing can be proposed from that:${problemLines(d.problems)}`,
  ),
  PROPOSAL_EVIDENCE_GONE: define<{ gone: readonly string[] }>(
    'conflict',
    (d) =>
      `What was to be learned from is there no longer: ${d.gone.slice(0, 5).join(', ')}${d.gone.length > 5 ? ` and ${d.gone.length - 5} more` : ''}. It was erased or pruned meanwhile; ask again, to learn from what is left.`,
    { retryable: true },
  ),
}
