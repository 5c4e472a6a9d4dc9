import type { EmbeddedTexts } from '../db/queries/embedding-models.ts'
import type { VersionVector } from '../db/queries/embeddings.ts'
import { sha256 } from '../domain/canonical.ts'

/** The vectors of versions under one model, in their order: all their texts are embedded together. */
export async function embedVersions(
  model: string,
  versions: readonly Pick<EmbeddedTexts, 'purpose' | 'examples'>[],
  embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>,
): Promise<readonly VersionVector[]> {
  const texts = versions.flatMap(({ purpose, examples }) => [
    purpose,
    ...examples.map(({ text }) => text),
  ])
  const vectors = (await embed(texts)).values()
  const next = (): Float32Array => {
    const { value } = vectors.next()
    if (value === undefined) throw new TypeError('an embedder gives a vector per text')
    return value
  }
  return versions.map(({ purpose, examples }) => ({
    model,
    textHash: sha256(purpose),
    vector: next(),
    examples: examples.map(({ kind, position, text }) => ({
      kind,
      position,
      textHash: sha256(text),
      vector: next(),
    })),
  }))
}
