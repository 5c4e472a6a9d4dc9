/**
 * Switches the embedding model of a folder in a process of its own, and kills it:
 *
 *   switch-process.ts FOLDER STOP_AT
 *
 * The process kills itself with SIGKILL when the model is asked, or has answered, for the STOP_AT-th time, from 1; both
 * count. It prints `done` at the end.
 */
import { writeSync } from 'node:fs'
import { openContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from './caller.ts'
import { newModel, oldModel } from './switch.ts'

const [dataDir = '', stopAt = '0'] = process.argv.slice(2)
let passed = 0

function pass(): void {
  passed += 1
  if (passed === Number(stopAt)) process.kill(process.pid, 'SIGKILL')
}

await using app = await openContext(
  { database: { dataDir }, tenantId: 'default', logLevel: 'silent' },
  {
    tools: [],
    embedder: oldModel,
    hostedEmbedder: {
      ...newModel,
      async embed(texts) {
        pass()
        const vectors = await newModel.embed(texts)
        pass()
        return vectors
      },
    },
  },
)
await operations.switchEmbeddings.invoke(app, callerOf(), { model: newModel.model })
pass()
for (let isDone = false; !isDone; ) {
  const progress = await operations.continueEmbeddingSwitch.invoke(app, callerOf(), {})
  isDone = progress.isDone
}
writeSync(1, 'done\n')
