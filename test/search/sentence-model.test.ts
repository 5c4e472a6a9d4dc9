import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createSentenceModel,
  isSentenceModelInstalled,
  type SentenceModelOptions,
} from '../../src/search/sentence-model.ts'

/** A thread with code of the test's own; the vector of a text is `[number of its batch, texts in it]`. */
function modelOf(onTexts: string, options: SentenceModelOptions = {}) {
  const source = `
    import { parentPort } from 'node:worker_threads'
    import { existsSync, writeFileSync } from 'node:fs'
    let batches = 0
    parentPort.on('message', (texts) => {
      batches += 1
      const answer = () =>
        parentPort.postMessage({ vectors: texts.map(() => [batches, texts.length]) })
      ${onTexts}
    })`
  return createSentenceModel({
    code: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    ...options,
  })
}

describe('the sentence model', () => {
  it('takes what is asked for together, and what comes while it is busy, in batches', async () => {
    await using model = modelOf('setTimeout(answer, 20)')

    const first = model.embed(['a', 'b'])
    const alone = model.embed(['c'])
    await Promise.all([first, alone])
    const later = await model.embed(['d'])

    expect((await first).map((vector) => [...vector])).toEqual([
      [1, 3],
      [1, 3],
    ])
    expect([...(later[0] ?? [])]).toEqual([2, 1])
  })

  it('takes at most 16 texts and about 4,000 characters at once', async () => {
    await using model = modelOf('answer()')

    const many = await model.embed(Array.from({ length: 17 }, () => 'a'))
    const long = await model.embed(Array.from({ length: 5 }, () => 'a'.repeat(1000)))

    expect(many.map((vector) => vector[1])).toEqual([...Array(16).fill(16), 1])
    expect(long.map((vector) => vector[1])).toEqual([...Array(4).fill(4), 1])
  })

  it('takes what is urgent before all that waits, after the batch that it is at', async () => {
    await using model = modelOf('setTimeout(answer, 20)')

    const bulk = model.embed(Array.from({ length: 600 }, () => 'a'.repeat(1000)))
    await model.embed(['a'.repeat(1000)], { isUrgent: true })
    const [first] = await model.embed(['search'], { isUrgent: true })
    const [second] = await model.embed(['another'], { isUrgent: true })

    // Each was asked for while a batch was under way, and came with the next.
    expect([first?.[0], second?.[0]]).toEqual([3, 5])
    expect(await bulk).toHaveLength(600)
  })

  it('replaces a thread that dies, and asks the next the same once more', async () => {
    const mark = join(mkdtempSync(join(tmpdir(), 'stepwarden-thread-')), 'died')
    await using once = modelOf(`
      if (existsSync(${JSON.stringify(mark)})) return answer()
      writeFileSync(${JSON.stringify(mark)}, '')
      process.exit(1)`)
    await using always = modelOf("if (texts[0] === 'die') process.exit(1); answer()")

    expect(await once.embed(['a'])).toHaveLength(1)
    await expect(always.embed(['die'])).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' })
    expect(await always.embed(['a'])).toHaveLength(1)
    rmSync(dirname(mark), { recursive: true })
  })

  it('gives a thread up that hangs, and serves the next from another', async () => {
    await using model = modelOf("if (texts[0] !== 'hang') answer(); else for (;;) {}", {
      timeoutMs: 300,
    })

    await expect(model.embed(['hang'])).rejects.toMatchObject({
      code: 'EMBEDDER_UNAVAILABLE',
      message: expect.stringContaining('300 ms'),
    })
    expect(await model.embed(['a'])).toHaveLength(1)
  })

  it('says so when the code of the thread cannot be loaded', async () => {
    await using model = createSentenceModel({ code: new URL('data:text/javascript,throw 1') })

    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' })
  })

  it.skipIf(!isSentenceModelInstalled())(
    'lets the process end by itself, and leaves its rejections alone',
    () => {
      const code = `
        import { createSentenceModel } from './src/search/sentence-model.ts'
        const model = createSentenceModel()
        const [vector] = await model.embed(['where is my parcel'])
        const listeners = process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException')
        console.log(vector.length, listeners)`

      const { stdout, status } = spawnSync(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '--eval', code],
        { encoding: 'utf8', timeout: 30_000 },
      )

      expect([stdout.trim(), status]).toEqual(['512 0', 0])
    },
    40_000,
  )
})
