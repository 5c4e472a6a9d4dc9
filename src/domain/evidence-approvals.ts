import { countVerdicts, type Verdict } from './approval.ts'
import type { AuditEvent } from './audit.ts'
import { canonicalJson, hashOf } from './canonical.ts'
import type { RowLine } from './evidence.ts'
import { type EvidenceProblem, maxSkewMs } from './evidence-acts.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import type { RecordRow } from './record.ts'

interface KnownReview {
  readonly id: string
  /** The order in which verdicts were given. */
  readonly seq: number
  readonly asOf: number
  readonly digest: string
  readonly verdict: Verdict
  readonly reviewerId: string
  readonly at: Json
  /** The hash of what it names of the version: see `subjectOf`. */
  readonly subject: string
  /** The event that tells of it. */
  told: number | undefined
}

interface KnownVersion {
  readonly id: string
  readonly asOf: number
  readonly digest: string | null
  readonly authorIds: readonly string[]
  readonly subject: string
  readonly createdAt: Json
}

interface KnownActivation {
  readonly id: string
  readonly versionId: string
  readonly activeFrom: Json
  readonly by: Json
}

/** What an event says of a version that went live. */
interface ToldActivation {
  readonly seq: number
  readonly digest: Json
  readonly approvedBy: readonly string[]
  readonly ungoverned: boolean
  /** How many approvals were asked for by the events until then; undefined where none of them says. */
  readonly required: number | undefined
}

/**
 * Holds that what went live had the approvals that it needed: of people who are no authors of it, given before, for what it
 * is, and not taken back. It holds a few values per version, review and activation.
 */
export class ApprovalReconciliation {
  readonly #reviews = new Map<string, KnownReview>()
  readonly #versions = new Map<string, KnownVersion>()
  readonly #activations = new Map<string, KnownActivation>()
  readonly #told = new Map<string, ToldActivation>()
  /** How many approvals are asked for since when, in epoch milliseconds. */
  readonly #required: { readonly since: number; readonly count: number }[] = []

  /** Takes a row, before any event, and answers what is wrong with it alone. */
  takeRow(line: RowLine): readonly EvidenceProblem[] {
    const { table, row, asOf } = line
    const id = String(row.id)
    if (table === 'reviews') return this.#takeReview(id, row, asOf)
    if (table === 'activations') {
      const { version_id: versionId, active_from: activeFrom = null } = row
      const by = idOf(row.activated_by)
      this.#activations.set(id, { id, versionId: String(versionId), activeFrom, by })
    }
    if (table === 'procedure_versions') {
      const scenarios = (line.scenarios ?? []).map((one) => Object(one).scenario)
      const { approval_digest: digest, author_ids: authorIds } = row
      this.#versions.set(id, {
        id,
        asOf,
        digest: typeof digest === 'string' ? digest : null,
        authorIds: Array.isArray(authorIds) ? authorIds.map(String) : [],
        subject: subjectOf(row.definition_hash, row.tool_contracts, hashOf(scenarios)),
        createdAt: row.created_at ?? null,
      })
    }
    return []
  }

  *takeEvent(event: AuditEvent, details: JsonObject): Generator<EvidenceProblem> {
    if (event.action === 'governance.changed') this.#takeGovernance(event, details)
    if (event.entityKind !== 'version') return
    const records = isJsonObject(details.records) ? Object.keys(details.records) : []
    if (event.action === 'version.created') yield* this.#judgeCreation(event)
    if (event.action === 'version.reviewed') {
      for (const key of records) yield* this.#judgeReview(key, event)
    }
    if (event.action !== 'version.activated' || records.length === 0) return
    for (const key of records) yield* this.#judgeActivation(key, event)
    const { approvalDigest, approvedBy } = details
    this.#told.set(event.entityId ?? '', {
      seq: event.seq,
      digest: approvalDigest ?? null,
      approvedBy: Array.isArray(approvedBy) ? approvedBy.map(String) : [],
      ungoverned: event.ungoverned,
      required: this.#requiredAt(event.at),
    })
  }

  /** After the last event. */
  *finish(): Generator<EvidenceProblem> {
    const byDigest = new Map<string, KnownReview[]>()
    for (const review of this.#reviews.values()) {
      byDigest.set(review.digest, [...(byDigest.get(review.digest) ?? []), review])
    }
    for (const version of this.#versions.values()) {
      for (const problem of this.#judgeVersion(version, byDigest)) {
        yield { table: 'procedure_versions', id: version.id, problem }
      }
    }
  }

  #takeReview(id: string, row: RecordRow, asOf: number): readonly EvidenceProblem[] {
    const { digest, parts, reviewer, reviewer_id: reviewerId, verdict } = row
    const named = Object(parts)
    this.#reviews.set(id, {
      id,
      seq: Number(row.seq),
      asOf,
      digest: String(digest),
      verdict: verdict === 'approve' || verdict === 'decline' ? verdict : 'comment',
      reviewerId: String(reviewerId),
      at: row.at ?? null,
      subject: subjectOf(named.definition, named.tools, named.scenarios),
      told: undefined,
    })
    const problems: string[] = []
    if (hashOf({ digestVersion: 1, ...named }) !== digest) {
      problems.push('Its digest is not that of its parts.')
    }
    if (idOf(reviewer) !== reviewerId) problems.push('Its reviewer is not who it names.')
    const { kind, unauthenticated } = Object(reviewer)
    if (verdict !== 'comment' && (kind !== 'human' || unauthenticated === true)) {
      problems.push('Its verdict is not that of a person who was known.')
    }
    return problems.map((problem) => ({ table: 'reviews', id, problem }))
  }

  #takeGovernance({ at }: AuditEvent, { before, requiredApprovals }: JsonObject): void {
    if (this.#required.length === 0) this.#required.push({ since: 0, count: Number(before) })
    this.#required.push({ since: at, count: Number(requiredApprovals) })
  }

  /** What was asked for at an instant; where that was changed just before, the less of both. */
  #requiredAt(at: number): number | undefined {
    const last = this.#required.at(-1)
    const before = this.#required.at(-2)
    if (last === undefined || before === undefined) return last?.count
    return last.since + maxSkewMs < at ? last.count : Math.min(last.count, before.count)
  }

  *#judgeCreation({ seq, at, entityId }: AuditEvent): Generator<EvidenceProblem> {
    const version = this.#versions.get(entityId ?? '')
    if (version === undefined || isNear(version.createdAt, at)) return
    const problem = `It was not made when event ${seq} says that it was.`
    yield { table: 'procedure_versions', id: version.id, problem }
  }

  *#judgeReview(key: string, { seq, at, actorId }: AuditEvent): Generator<EvidenceProblem> {
    const review = this.#reviews.get(key.replace('reviews/', ''))
    if (review === undefined || seq > review.asOf) return
    review.told = seq
    const found = { table: 'reviews', id: review.id }
    if (review.reviewerId !== actorId) {
      yield { ...found, problem: `It was not given by ${actorId}, who event ${seq} names.` }
    }
    if (!isNear(review.at, at)) {
      yield { ...found, problem: `It was not given when event ${seq} says that it was.` }
    }
  }

  *#judgeActivation(key: string, event: AuditEvent): Generator<EvidenceProblem> {
    const activation = this.#activations.get(key.replace('activations/', ''))
    // The event names the time of service that it has closed as well.
    if (activation === undefined || activation.versionId !== event.entityId) return
    const found = { table: 'activations', id: activation.id }
    if (!isNear(activation.activeFrom, event.at)) {
      yield { ...found, problem: `It did not begin when event ${event.seq} says that it did.` }
    }
    if (activation.by !== event.actorId) {
      yield { ...found, problem: `It is not of ${event.actorId}, who event ${event.seq} names.` }
    }
    const { createdAt } = this.#versions.get(activation.versionId) ?? {}
    if (timeOf(activation.activeFrom) + maxSkewMs < timeOf(createdAt)) {
      yield { ...found, problem: 'It begins before its version was made.' }
    }
  }

  *#judgeVersion(
    version: KnownVersion,
    byDigest: ReadonlyMap<string, readonly KnownReview[]>,
  ): Generator<string> {
    const found = this.#told.get(version.id)
    const told = found !== undefined && found.seq <= version.asOf ? found : undefined
    const { digest } = version
    if (told !== undefined && told.digest !== digest) {
      yield `It did not go live with the approval that event ${told.seq} names.`
    }
    if (digest === null) {
      if (told !== undefined && !(told.ungoverned && (told.required ?? 0) === 0)) {
        yield `It went live without an approval, and one was asked for (event ${told.seq}).`
      }
      return
    }
    const reviews = (byDigest.get(digest) ?? [])
      .filter((review) => told === undefined || (review.told ?? told.seq) < told.seq)
      .sort((a, b) => a.seq - b.seq)
    const { approvedBy, declinedBy } = countVerdicts(reviews, version.authorIds)
    const required = Math.max(told?.required ?? 1, 1)
    if (approvedBy.length === 0) {
      yield 'Nobody but its authors has approved what it went live with.'
    } else if (approvedBy.length < required) {
      yield `It went live with the approval of ${approvedBy.length}, where that of ${required} was asked for.`
    }
    for (const id of declinedBy) yield `It went live though ${id} had declined it.`
    for (const id of told?.approvedBy ?? []) {
      if (!approvedBy.includes(id)) yield `The approval of ${id}, which it went live with, is gone.`
    }
    const others = reviews.filter(({ verdict, subject }) => {
      return verdict === 'approve' && subject !== version.subject
    })
    for (const { id } of others) {
      yield `What review ${id} approves is not its definition, contracts and scenarios.`
    }
  }
}

/** What an approval names of a version itself; the rest of it is what a simulation comes to, and what others are. */
function subjectOf(definition: unknown, tools: unknown, scenarios: unknown): string {
  return canonicalJson([definition ?? null, tools ?? null, scenarios ?? null])
}

function isNear(instant: Json, at: number): boolean {
  return Math.abs(timeOf(instant) - at) <= maxSkewMs
}

function timeOf(instant: Json | undefined): number {
  return typeof instant === 'string' ? Date.parse(instant) : Number.NaN
}

function idOf(principal: Json | undefined): Json {
  return isJsonObject(principal) ? (principal.id ?? null) : null
}
