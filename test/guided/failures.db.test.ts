import { beforeEach, describe, expect, it } from 'vitest'
import { connectStepwarden } from '../../src/client/index.ts'
import { createGuidedAgent } from '../../src/guided/guided-agent.ts'
import type { Loop, LoopTask } from '../../src/guided/loop.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { keyFor, openTestDoor } from '../support/http.ts'
import { activateMeter, failing, meterDefinition, meterTask, openWorld } from './world.ts'

const { app, client } = await openWorld('library')
const admin = callerOf()
const task = 'Move the parcel PCL-1 to another address'

let steps = 0
const done: Loop = async ({ recordStep }) => {
  // Another number each time: the same again would be the same experience.
  steps += 1
  recordStep('move_parcel', { parcel: `PCL-${steps}` }, 'moved')
  return { success: true, result: 'Moved.' }
}
const newest = async () => {
  const { items } = await operations.listExperiences.invoke(app, admin, { limit: 1 })
  return items[0]
}
const experienceCount = async () =>
  (await operations.listExperiences.invoke(app, admin, { limit: 200 })).items.length
let before = 0
beforeEach(async () => {
  before = await experienceCount()
})

describe('a loop', () => {
  it('that records no step has done nothing that shows, whatever it says', async () => {
    const loop: Loop = async () => ({ success: true, result: 'Certainly.' })

    const answer = await createGuidedAgent(client, { loop }).handle(task)

    expect(answer).toEqual({
      ...{ method: 'manual', success: false, result: 'Certainly.', warnings: [] },
    })
    expect(await experienceCount()).toBe(before)
  })

  it('that does not succeed is recorded and not proposed', async () => {
    const loop: Loop = async (given) => {
      await done(given)
      return {
        success: false,
        outcome: 'The parcel was gone',
        feedback: { score: 0.9, issues: [] },
      }
    }

    const answer = await createGuidedAgent(client, { loop }).handle(task)

    expect(answer).toMatchObject({
      ...{ method: 'manual_with_learning', proposalId: null, success: false, result: null },
      warnings: [],
    })
    expect(await newest()).toMatchObject({
      ...{ outcomeType: 'failure', outcome: 'The parcel was gone', scoredBy: 'heuristic' },
    })
  })

  it('that throws has its error come out, once what it did is recorded as a failure', async () => {
    const loop: Loop = async (given) => {
      await done(given)
      throw new Error('the van broke down')
    }

    await expect(createGuidedAgent(client, { loop }).handle(task)).rejects.toThrow('the van broke')

    expect(await newest()).toMatchObject({
      ...{ outcomeType: 'failure', outcome: 'Failed: the van broke down' },
    })
    expect(await experienceCount()).toBe(before + 1)
  })

  it('that answers no such thing is refused', async () => {
    const loop = (async () => undefined) as unknown as Loop

    await expect(createGuidedAgent(client, { loop }).handle(task)).rejects.toMatchObject({
      ...{ code: 'REQUEST_INVALID', details: { problems: [{ path: 'loop' }] } },
    })
  })

  it('that never ends is left when the signal says so, and takes no step any more', async () => {
    const stop = new AbortController()
    let late: LoopTask | undefined
    const loop: Loop = async (given) => {
      late = given
      await done(given)
      stop.abort(new Error('enough'))
      return new Promise(() => {})
    }

    const waiting = createGuidedAgent(client, { loop }).handle(task, {}, { signal: stop.signal })

    await expect(waiting).rejects.toThrow('enough')
    expect(late?.signal.aborted).toBe(true)
    expect(() => late?.recordStep('late', null, '')).toThrow(/the task is over/)
    expect(await newest()).toMatchObject({ outcome: 'Failed: enough' })
  })

  it('is not begun when nobody waits any more', async () => {
    const signal = AbortSignal.abort(new Error('too late'))
    const loop: Loop = () => Promise.reject(new Error('it was begun'))

    await expect(createGuidedAgent(client, { loop }).handle(task, {}, { signal })).rejects.toThrow(
      'too late',
    )
  })

  it('may record more than an experience takes: a summary is cut, a text too long to look up as well', async () => {
    const loop: Loop = async ({ recordStep }) => {
      recordStep('say', 1, `${'x'.repeat(1_999)}😀`)
      return { success: true }
    }
    const long = `${task}. ${'It is long. '.repeat(6_000)}`

    const answer = await createGuidedAgent(client, { loop, propose: false }).handle(long)

    expect(answer).toMatchObject({ method: 'manual_with_learning', warnings: [] })
    expect((await newest())?.outcome).toBe('It was done.')
  })
})

describe('what cannot be learned', () => {
  it('never fails the answer: it says what went wrong', async () => {
    const answer = await createGuidedAgent(failing(client, 'proposeProcedure'), {
      loop: done,
    }).handle(task)

    expect(answer).toEqual({
      method: 'manual_with_learning',
      proposalId: null,
      actionsTaken: 1,
      success: true,
      result: 'Moved.',
      experienceId: expect.stringMatching(/^exp_/),
      warnings: ['Nothing was proposed: it is down'],
    })
  })

  it('is told of each thing, and the loop has worked all the same', async () => {
    const down = failing(client, 'retrieveExperiences', 'showLessons', 'recordExperience')

    const answer = await createGuidedAgent(down, { loop: done }).handle(task)

    expect(answer).toMatchObject({
      ...{ success: true, actionsTaken: 1, experienceId: null, proposalId: null },
      warnings: [
        'Experiences were not found: it is down',
        'Lessons were not read: it is down',
        'What was done was not recorded: it is down',
      ],
    })
  })

  it('is what a service refuses: more steps than an experience has', async () => {
    const loop: Loop = async ({ recordStep }) => {
      for (let n = 0; n < 1_001; n += 1) recordStep('move_parcel', n, 'moved')
      return { success: true, result: 'Moved.' }
    }

    const answer = await createGuidedAgent(client, { loop }).handle(task)

    expect(answer).toMatchObject({ success: true, actionsTaken: 1_001, experienceId: null })
    expect('warnings' in answer && answer.warnings[0]).toContain('at most 1000 actions')
  })

  it('is never asked about where nothing may be proposed', async () => {
    const answer = await createGuidedAgent(failing(client, 'proposeProcedure'), {
      ...{ loop: done, propose: false },
    }).handle(task)

    expect(answer).toMatchObject({ proposalId: null, success: true, warnings: [] })
  })

  it('leaves the loop out when nothing can be searched', async () => {
    const loop: Loop = () => Promise.reject(new Error('it was begun'))

    const agent = createGuidedAgent(failing(client, 'searchProcedures'), { loop })

    await expect(agent.handle(task)).rejects.toThrow('it is down')
  })
})

describe('several playbooks that are near equals', () => {
  it('go to the loop, and one of them runs where the top is taken', async () => {
    await activateMeter(app)
    const twin = { ...meterDefinition, key: 'METER_TWIN', name: 'Meter that is stuck' }
    await operations.createProcedure.invoke(app, admin, { definition: twin })
    await operations.activateVersion.invoke(app, admin, {
      ...{ procedureKey: twin.key, versionNumber: 1, seenActive: null },
    })
    const found = await client.searchProcedures({ issue: meterTask })
    expect(found.decision).toBe('ambiguous')
    const seen: LoopTask[] = []
    const loop: Loop = async (given) => {
      seen.push(given)
      return done(given)
    }

    expect(await createGuidedAgent(client, { loop }).handle(meterTask)).toMatchObject({
      method: 'manual_with_learning',
    })
    expect(seen[0]?.candidates).toHaveLength(2)
    const taken = await createGuidedAgent(client, { loop, onAmbiguous: 'top' }).handle(meterTask)
    expect(taken).toMatchObject({ method: 'procedure', status: 'waiting' })
  })
})

describe('a client of a server that does not wait', () => {
  it('answers that the run goes on, by its id', async () => {
    const { url } = await openTestDoor(app)
    const key = await keyFor(app, 'hasty', ['agent'])
    const hasty = connectStepwarden({ url, key, waitSeconds: 0 })
    const agent = createGuidedAgent(hasty, { loop: done, onAmbiguous: 'top' })

    const answer = await agent.handle(meterTask)

    expect(answer).toMatchObject({
      ...{ method: 'procedure', executionId: expect.stringMatching(/^exec_/), success: null },
    })
  })
})
