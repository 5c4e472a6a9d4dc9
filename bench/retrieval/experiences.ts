import type { AppContext } from '../../src/context.ts'
import { sha256 } from '../../src/domain/canonical.ts'
import { buildSummary } from '../../src/domain/summary.ts'
import type { Caller } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { type CalibrationSample, calibrate, measure } from '../../src/search/calibrate.ts'
import {
  addTenant,
  type CaseProcedure,
  definitionOf,
  keyOf,
  readProcedures,
  readQueries,
  sets,
} from './cases.ts'

const atOnce = 64

/**
 * How the texts of a playbook become situations: `purpose` is what search compares, as one text; `messages` is each of its
 * texts by itself, as customers write them.
 */
const forms = {
  purpose: (procedure: CaseProcedure) => [buildSummary(definitionOf(procedure)).purpose],
  messages: ({ description, issue_patterns: patterns }: CaseProcedure) => [
    description,
    ...patterns,
  ],
} as const

type Sample = CalibrationSample & { readonly half: boolean; readonly isAmongThree: boolean }

/** What is found through experiences, set by set, and the threshold that the messages give. */
export async function experienceReport(app: AppContext, folder: string): Promise<object> {
  const report: Record<string, object> = {}
  for (const [form, situationsOf] of Object.entries(forms)) {
    const bySet: Sample[][] = []
    for (const set of sets) {
      const caller = await addTenant(app, `${form}-${set}`)
      for (const procedure of readProcedures(folder, set)) {
        for (const situation of situationsOf(procedure)) {
          await record(app, caller, keyOf(procedure.key), situation)
        }
      }
      bySet.push(await lookUp(app, caller, folder, set))
    }
    report[form] = {
      ...Object.fromEntries(sets.map((set, at) => [set, found(bySet[at] ?? [])])),
      mean: mean(bySet.map(found)),
      threshold: thresholds(bySet),
    }
  }
  return report
}

async function record(
  app: AppContext,
  caller: Caller,
  key: string,
  situation: string,
): Promise<void> {
  await operations.recordExperience.invoke(app, caller, {
    situation,
    actionSequence: [{ tool: key }],
    ...{ outcome: 'Done', outcomeType: 'success', score: 1 },
  })
}

async function lookUp(
  app: AppContext,
  caller: Caller,
  folder: string,
  set: string,
): Promise<Sample[]> {
  const queries = readQueries(folder, set)
  const samples: Sample[] = []
  for (let start = 0; start < queries.length; start += atOnce) {
    const some = queries.slice(start, start + atOnce).map(async ({ id, query, expected }) => {
      const { matches } = await operations.retrieveExperiences.invoke(app, caller, {
        situation: query,
        minSimilarity: 0,
      })
      const keys = matches.map(({ experience }) => experience.actionSequence[0]?.tool)
      const right = expected === null ? undefined : keyOf(expected)
      const [first] = matches
      return {
        half: Number.parseInt(sha256(id).slice(0, 2), 16) % 2 === 1,
        hasAnswer: right !== undefined,
        isBestRight: right !== undefined && keys[0] === right,
        isAmongThree: right !== undefined && keys.slice(0, 3).includes(right),
        similarity: first?.similarity ?? 0,
        lead: 1,
      }
    })
    samples.push(...(await Promise.all(some)))
  }
  return samples
}

function found(samples: readonly Sample[]) {
  const answerable = samples.filter(({ hasAnswer }) => hasAnswer)
  const share = (of: (sample: Sample) => boolean) =>
    thousandths(answerable.filter(of).length / answerable.length)
  return {
    recallAt1: share(({ isBestRight }) => isBestRight),
    recallAt3: share(({ isAmongThree }) => isAmongThree),
  }
}

function mean(all: readonly ReturnType<typeof found>[]) {
  const of = (field: 'recallAt1' | 'recallAt3') =>
    thousandths(all.reduce((sum, one) => sum + one[field], 0) / all.length)
  return { recallAt1: of('recallAt1'), recallAt3: of('recallAt3') }
}

/** The similarity with the best F1: learnt on each half with its F1 on the other, and on all. */
function thresholds(bySet: readonly (readonly Sample[])[]): object {
  const halfOf = (half: boolean) => bySet.map((some) => some.filter((one) => one.half === half))
  const learn = (on: readonly (readonly Sample[])[], tried: readonly (readonly Sample[])[]) => {
    const { minSimilarity } = calibrate(on)
    const f1 = tried.map((some) => measure(some, { minSimilarity, margin: 0 }).f1)
    return { minSimilarity, f1: thousandths(f1.reduce((sum, one) => sum + one, 0) / f1.length) }
  }
  return {
    firstHalf: learn(halfOf(false), halfOf(true)),
    secondHalf: learn(halfOf(true), halfOf(false)),
    all: learn(bySet, bySet),
  }
}

function thousandths(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
