import { hashOf } from './canonical.ts'
import type { Json } from './json.ts'

/** All that an approval is bound to. docs/decisions/0012-governance.md says what each part is. */
export interface ApprovalParts {
  readonly definition: string
  /** Contract hash by the name of the tool. */
  readonly tools: Readonly<Record<string, string>>
  readonly scenarios: string
  /** Null when the scenarios cannot be run. */
  readonly results: string | null
  /** Hash of the interface by the key of the called procedure; null for one that does not serve. */
  readonly calls: Readonly<Record<string, string | null>>
}

/** The digest that a review names: docs/decisions/0012-governance.md. */
export function approvalDigest(parts: ApprovalParts): string {
  return hashOf({ digestVersion: 1, ...parts })
}

/** What differs between two approvals, in words that name it: `the definition`, `the tool check_refund`. */
export function changedParts(before: ApprovalParts, after: ApprovalParts): readonly string[] {
  return [
    ...(before.definition === after.definition ? [] : ['the definition']),
    ...changedNames(before.tools, after.tools).map((name) => `the tool ${name}`),
    ...(before.scenarios === after.scenarios ? [] : ['the scenarios']),
    ...(before.results === after.results ? [] : ['what the scenarios come to']),
    ...changedNames(before.calls, after.calls).map(
      (key) => `the input or output of ${key}, which it calls`,
    ),
  ]
}

function changedNames(
  before: Readonly<Record<string, Json>>,
  after: Readonly<Record<string, Json>>,
): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name] !== after[name]).sort()
}

export type Verdict = 'approve' | 'decline' | 'comment'

/** What a review says, as far as it decides. */
export interface StandingReview {
  readonly reviewerId: string
  readonly verdict: Verdict
}

/**
 * Who stands for and against what is to go live, of the reviews of its digest in the order in which they were given: the
 * last verdict of each counts, and that of an author only when it is a no. The database decides by the same rule.
 */
export function countVerdicts(
  reviews: readonly StandingReview[],
  authorIds: readonly string[],
): { readonly approvedBy: readonly string[]; readonly declinedBy: readonly string[] } {
  const last = new Map(
    reviews
      .filter(({ verdict }) => verdict !== 'comment')
      .map(({ reviewerId, verdict }) => [reviewerId, verdict]),
  )
  const of = (wanted: Verdict) =>
    [...last].filter(([, verdict]) => verdict === wanted).map(([id]) => id)
  return {
    approvedBy: of('approve').filter((id) => !authorIds.includes(id)),
    declinedBy: of('decline'),
  }
}
