import type { AppContext } from '../context.ts'
import { listEmbeddingModels } from '../db/queries/embedding-models.ts'
import { insertTicketVectors, listTicketVectors, type TicketVector } from '../db/queries/gaps.ts'
import { sha256 } from '../domain/canonical.ts'
import { isServiceError } from '../domain/errors.ts'
import { defaultMinSimilarity } from '../learning/experience-rank.ts'
import type { GapTicket } from '../learning/gap.ts'
import type { Embedder } from '../search/embedder.ts'
import type { OperationContext } from './define.ts'
import { embedAll } from './embedding-models.ts'
import { openWithholding } from './withhold-sensitive.ts'

/** So many at once: of what takes long the part that is done is kept. */
const atOnce = 100

/** Tickets as one model sees them. */
export interface TicketVectors {
  readonly model: string
  /** The model in use gave no vectors, and this is the offline one. */
  readonly fellBack: boolean
  /** From which similarity on two are alike, by this model. */
  readonly minSimilarity: number
  readonly of: (escalationId: string) => Float32Array | undefined
}

/**
 * The vectors of tickets by the model in use, or by the offline one for all of them where that gives none. Those that were
 * never made are made now, and kept. To a server goes nothing that is sensitive.
 *
 * @throws ServiceError `EMBEDDER_UNAVAILABLE` when the offline model fails as well.
 */
export async function embedTickets(
  context: OperationContext,
  tickets: readonly GapTicket[],
): Promise<TicketVectors> {
  const { embedders, database, log } = context.app
  const models = await listEmbeddingModels(database.system)
  const current = models.find(({ isCurrent }) => isCurrent)?.name ?? embedders.offline.model
  const embedder = embedders.find(current)
  let fellBack = embedder === undefined
  let used = embedder ?? embedders.offline
  let vectors: ReadonlyMap<string, Float32Array>
  try {
    vectors = await vectorsOf(context, used, tickets)
  } catch (error) {
    if (used === embedders.offline || !isServiceError(error, 'EMBEDDER_UNAVAILABLE')) throw error
    log.warn({ model: used.model, problem: error.message }, 'gaps are found by the offline model')
    fellBack = true
    used = embedders.offline
    vectors = await vectorsOf(context, used, tickets)
  }
  const { model } = used
  const measured = models.find(({ name, calibrated }) => name === model && calibrated)
  return {
    ...{ model, fellBack },
    minSimilarity: measured?.minSimilarity ?? defaultMinSimilarity(model),
    of: (escalationId) => vectors.get(escalationId),
  }
}

async function vectorsOf(
  { app, caller, db }: OperationContext,
  embedder: Embedder,
  tickets: readonly GapTicket[],
): Promise<ReadonlyMap<string, Float32Array>> {
  const textOf = await wordingFor(app, db, embedder)
  const found = new Map<string, Float32Array>()
  let done = 0
  for (let from = 0; from < tickets.length; from += atOnce) {
    const some = tickets.slice(from, from + atOnce).filter(hasText)
    const ids = some.map(({ escalationId }) => escalationId)
    const known = await listTicketVectors(db.kysely, embedder.model, ids)
    const lacking = some.filter(({ escalationId }) => !known.has(escalationId))
    const texts = lacking.map(({ text }) => textOf(text))
    const made = texts.length === 0 ? [] : await embedAll(embedder, texts)
    const vectors = lacking.flatMap(({ escalationId }, at): readonly TicketVector[] => {
      const [vector, text] = [made[at], texts[at]]
      if (vector === undefined || text === undefined) return []
      return [{ escalationId, textHash: sha256(text), vector }]
    })
    if (vectors.length > 0) {
      await insertTicketVectors(db.kysely, db.tenantId, embedder.model, vectors)
    }
    for (const [id, vector] of known) found.set(id, vector)
    for (const { escalationId, vector } of vectors) found.set(escalationId, vector)
    done += vectors.length
    if (vectors.length > 0) caller.onProgress?.(`${done.toLocaleString('en')} tickets read`)
  }
  return found
}

async function wordingFor(
  { embedders }: AppContext,
  db: OperationContext['db'],
  { model }: Embedder,
): Promise<(text: string) => string> {
  if (!embedders.isHosted(model)) return (text) => text
  return (await openWithholding(db)).text
}

function hasText(ticket: GapTicket): ticket is GapTicket & { readonly text: string } {
  return ticket.text !== null && /\S/.test(ticket.text)
}
