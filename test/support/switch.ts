import { fakeEmbedder } from './fake-embedder.ts'

const words = { refund: 3, parcel: 3, login: 3 }

/** The models of the tests that switch from one to the other. */
export const oldModel = fakeEmbedder(words, { model: 'old-v1' })
export const newModel = fakeEmbedder({ ...words, invoice: 3 }, { model: 'new-v1' })

/** A procedure that is found by one word. */
export function wordDefinition(key: string, word: string, more: Record<string, unknown> = {}) {
  return {
    key,
    name: word,
    description: 'About it',
    issuePatterns: [],
    steps: [{ key: 'note', action: 'Note', compute: { n: '1' } }],
    ...more,
  }
}
