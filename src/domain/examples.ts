import type { Definition } from './definition.ts'

/** A routing test of a version: a customer's words, and whether it is for them. */
export interface Example {
  readonly kind: 'match' | 'noMatch'
  /** In its list, from 1. */
  readonly position: number
  readonly text: string
}

/** The routing tests of a definition; none of one that search does not find. */
export function examplesOf({
  examples = {},
  internal,
}: Pick<Definition, 'examples' | 'internal'>): readonly Example[] {
  if (internal === true) return []
  return (['match', 'noMatch'] as const).flatMap((kind) =>
    (examples[kind] ?? []).map((text, index) => ({ kind, position: index + 1, text })),
  )
}
