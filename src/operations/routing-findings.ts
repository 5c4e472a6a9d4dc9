import { type RuleId, rules } from '../checks/rules.ts'
import type { Db } from '../db/connect.ts'
import { type EmbeddingModel, findCurrentModel } from '../db/queries/embedding-models.ts'
import {
  listRoutedExamples,
  listThreatenedExamples,
  type NearVersion,
  type RoutedExample,
} from '../db/queries/routing.ts'
import { findActiveVersion, type ProcedureVersion } from '../db/queries/versions.ts'
import { hashOf, sha256 } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import { examplesOf } from '../domain/examples.ts'
import type { Finding } from '../domain/finding.ts'
import { rankCandidates } from '../search/rank.ts'

/** A finding of a routing test. Its id stays the same as long as the same text would go the same wrong way. */
export interface RoutingFinding extends Finding {
  readonly id: string
}

/**
 * What the routing tests find: examples of a draft that would go elsewhere, or come here and should not, and examples of
 * other active procedures that it would take away, all as search would decide with the draft in service. By the vectors
 * that are stored; no model is called. None of a version that search does not find, and none while the thresholds of the
 * model in use were never measured, because it selects nothing then.
 */
export async function routingFindings(
  db: Db,
  version: ProcedureVersion,
): Promise<readonly RoutingFinding[]> {
  const { id, procedureId, procedureKey, definition } = version
  if (definition.internal === true) return []
  const model = await findCurrentModel(db)
  if (model?.calibrated !== true) return []
  const predecessor = await findActiveVersion(db, procedureKey)
  const draft = { versionId: id, procedureKey, versionNumber: version.versionNumber }
  const withDraft = (example: RoutedExample): readonly NearVersion[] => [
    ...example.nearest.filter(({ versionId }) => versionId !== predecessor?.id),
    { ...draft, similarity: example.similarity },
  ]

  const findings: RoutingFinding[] = []
  const texts = new Map(examplesOf(definition).map((one) => [placeOf(one), one.text]))
  for (const example of await listRoutedExamples(db, model.name, id)) {
    const text = texts.get(placeOf(example))
    if (text === undefined || sha256(text) !== example.textHash) continue
    const goesTo = selectedOf(withDraft(example), model)
    const path = `examples.${placeOf(example)}`
    if (example.kind === 'noMatch' && goesTo === procedureKey) {
      const message = `'${text}' would come here, and is an example of what this is not for; make the patterns say less of it`
      findings.push(findingOf('no-match-routed-here', path, message, [text]))
    }
    if (example.kind === 'match' && goesTo !== undefined && goesTo !== procedureKey) {
      const message = `'${text}' would go to ${goesTo}; add a pattern in such words, or take the example away`
      findings.push(findingOf('example-routed-elsewhere', path, message, [text, goesTo]))
    }
  }
  for (const example of await listThreatenedExamples(db, model, { id, procedureId })) {
    const { text, procedureKey: owner } = example
    if (sha256(text) !== example.textHash || selectedOf(example.nearest, model) !== owner) continue
    if (selectedOf(withDraft(example), model) !== procedureKey) continue
    const message = `'${text}', an example of ${owner}, would come here; make the patterns of the two differ`
    findings.push(findingOf('example-taken-away', 'issuePatterns', message, [owner, text]))
  }
  return findings
}

/**
 * Holds that whoever activates a version knows what its routing tests find, and gives these findings as warnings.
 *
 * @throws ServiceError `ROUTING_NOT_ACKNOWLEDGED` with those that nobody has acknowledged.
 */
export async function requireAcknowledged(
  db: Db,
  version: ProcedureVersion,
  acknowledged: readonly string[],
): Promise<readonly Finding[]> {
  const findings = await routingFindings(db, version)
  const problems = findings.filter(({ id }) => !acknowledged.includes(id))
  if (problems.length > 0) {
    const { procedureKey, versionNumber } = version
    const findingIds = problems.map(({ id }) => id)
    const details = { procedureKey, versionNumber, problems, findingIds }
    throw new ServiceError('ROUTING_NOT_ACKNOWLEDGED', details)
  }
  return findings.map((finding) => ({ ...finding, severity: 'warning' }))
}

/** The procedure that search would select; undefined when it would leave the choice to an agent, or find none. */
function selectedOf(near: readonly NearVersion[], model: EmbeddingModel): string | undefined {
  // How runs have ended orders a list for an agent, and patterns that stand in a text only add to it.
  const candidates = near.map((version) => ({
    ...version,
    literal: false,
    trackRecord: { runs: 0, successes: 0 },
  }))
  const ranking = rankCandidates(candidates, model)
  return ranking.decision === 'selected' ? ranking.selected.procedureKey : undefined
}

function placeOf({ kind, position }: Pick<RoutedExample, 'kind' | 'position'>): string {
  return `${kind}[${position - 1}]`
}

function findingOf(
  rule: RuleId,
  path: string,
  message: string,
  facts: readonly string[],
): RoutingFinding {
  const id = `${rule}:${hashOf(facts).slice(0, 12)}`
  return { rule, severity: rules[rule].severity, path, message, id }
}
