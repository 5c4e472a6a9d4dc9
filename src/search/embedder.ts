/**
 * What the similarities of one model mean. They are measured on examples of the kind of text that is searched, and
 * say nothing about any other model.
 */
export interface Thresholds {
  /** 0 to 1: below this similarity nothing fits. */
  readonly minSimilarity: number
  /** 0 to 1: the lead over the second procedure that makes the first one certain enough to run. */
  readonly margin: number
  /** False for a model that was never measured: it lists candidates and selects nothing. */
  readonly calibrated: boolean
}

/** The thresholds of a model that nobody has measured. */
export const unmeasured: Thresholds = { minSimilarity: 0, margin: 0, calibrated: false }

/**
 * Turns texts into vectors whose cosine says how alike they are in meaning.
 *
 * An embedder is deterministic enough that the stored vector of a text can be compared with a fresh one of the same
 * model. A change that moves vectors is a new model name.
 */
export interface Embedder {
  /** Names the vectors that this embedder makes, and is stored with each of them. */
  readonly model: string
  /** The length of every vector. */
  readonly dimensions: number
  /** Longer texts are cut here by `embed` itself, never refused. At most 8,000. */
  readonly maxCharacters: number
  /** What this code ships for the model. A calibration that a deployment has stored goes before it. */
  readonly thresholds: Thresholds
  /**
   * One vector of unit length per text, in the order of the texts. Any text has a vector, the empty one included, so
   * that no similarity is ever NaN.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>
}

/** How much of a hurry there is. */
export interface EmbedOptions {
  /** An embedder that asks a server gives up then. */
  readonly withinMs?: number
  /** Somebody waits for just this: an embedder that takes one after the other takes it first. Default false. */
  readonly isUrgent?: boolean
}

/** The vector of one text. */
export async function embedOne(
  embedder: Embedder,
  text: string,
  options?: EmbedOptions,
): Promise<Float32Array> {
  const [vector] = await embedder.embed([text], options)
  if (vector === undefined) throw new TypeError('an embedder gives a vector per text')
  return vector
}

/** The first `maxCharacters` UTF-16 units of a text, one fewer where the cut would split a character in two. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const cut = text.slice(0, maxCharacters)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

/**
 * Scales a vector to unit length in place and returns it.
 *
 * @throws RangeError if it is zero or not finite: such a vector has no direction and no cosine with anything.
 */
export function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  if (!(length > 0 && Number.isFinite(length))) {
    throw new RangeError(`A vector of length ${length} has no direction.`)
  }
  for (const [place, value] of vector.entries()) vector[place] = value / length
  return vector
}

/** The cosine of two unit vectors of one model: 1 for the same direction, 0 for nothing in common. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) {
    throw new RangeError(`Vectors of ${a.length} and ${b.length} dimensions are of two models.`)
  }
  let sum = 0
  for (const [place, value] of a.entries()) sum += value * (b[place] ?? 0)
  return sum
}
