import type { Generated, GeneratedAlways } from 'kysely'
import type { Nullable } from './columns.ts'

/** An embedding model with the thresholds that were measured for it; at most one is current. Not per tenant. */
export interface EmbeddingModelsTable {
  name: string
  /** 1 to 4,096. */
  dimensions: number
  /** The least similarity that can be selected, −1 to 1. */
  threshold: number
  /** The least lead over the second procedure, 0 to 2. */
  margin: number
  /** A model whose thresholds were never measured selects nothing. */
  calibrated: boolean
  is_current: Generated<boolean>
  /** Set while a switch to this model is under way; of at most one model. */
  switching_since: Nullable<Date>
}

/** A version's purpose as one model sees it. Goes with its draft when that is deleted. */
export interface VersionEmbeddingsTable {
  tenant_id: string
  model: string
  version_id: string
  /** SHA-256 of the text that was embedded. */
  text_hash: string
  /** pgvector's text form, `[0.1,0.2]`, both ways; as long as the model says. */
  embedding: string
  dimensions: GeneratedAlways<number>
  /** The category in which search finds the version; null while it does not serve. Only the database sets it. */
  served_in: Nullable<string>
}

/**
 * An issue pattern of a version that serves, folded as search folds text, with its last eight characters, or four where it
 * has no eight. Goes when the version no longer serves.
 */
export interface LiteralPatternsTable {
  tenant_id: string
  version_id: string
  /** From 1. */
  position: number
  tail: string
  pattern: string
}

/** An example of a version as one model sees it. All of a version are written together with its vectors. */
export interface ExampleVectorsTable {
  tenant_id: string
  model: string
  version_id: string
  kind: 'match' | 'noMatch'
  /** In its list, from 1. */
  position: number
  /** SHA-256 of the text that was embedded. */
  text_hash: string
  embedding: string
  dimensions: GeneratedAlways<number>
}

/** The ticket of an escalation as one model sees it. Goes when the ticket is erased. */
export interface TicketEmbeddingsTable {
  tenant_id: string
  model: string
  escalation_id: string
  /** SHA-256 of the text that was embedded. */
  text_hash: string
  /** pgvector's text form, `[0.1,0.2]`, both ways. */
  embedding: string
  dimensions: GeneratedAlways<number>
}
