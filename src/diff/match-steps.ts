import { canonicalJson } from '../domain/canonical.ts'
import { stepKinds } from '../domain/step.ts'
import { Alignment } from './alignment.ts'
import type { StepEntry } from './step-table.ts'

export type StepTable = ReadonlyMap<string, StepEntry>

/**
 * The steps that have another key but are evidently the same: of those that are gone and those that are new, two of one
 * kind, with the same tool or called procedure, and either the same `action` or the same in all else. From each old key
 * to the new one.
 */
export function findRenames(before: StepTable, after: StepTable): ReadonlyMap<string, string> {
  const gone = [...before.values()].filter(({ key }) => !after.has(key))
  const come = [...after.values()].filter(({ key }) => !before.has(key))
  const alignment = new Alignment(gone.length, come.length)
  for (const sign of [wholeSign, actionSign, restSign]) {
    alignment.pairBy(
      (index) => signOf(gone[index], sign),
      (index) => signOf(come[index], sign),
    )
  }
  return new Map(
    gone.flatMap(({ key }, index) => {
      const found = come[alignment.afterOf(index) ?? -1]
      return found === undefined ? [] : [[key, found.key] as const]
    }),
  )
}

type Sign = (step: StepEntry) => string | undefined

function signOf(step: StepEntry | undefined, sign: Sign): string | undefined {
  const own = step && sign(step)
  return step === undefined || own === undefined ? undefined : `${kindSign(step)} ${own}`
}

function kindSign({ own, branches }: StepEntry): string {
  const kind = stepKinds.find((name) => Object.hasOwn(own, name))
  // Of a block and a `choose` the marking field holds what is in them.
  if (kind === undefined) return branches.length > 0 ? 'choose' : 'steps'
  return kind === 'tool' || kind === 'call' ? `${kind} ${String(own[kind])}` : kind
}

const wholeSign: Sign = ({ own: { key: _key, ...rest } }) => canonicalJson(rest)

const actionSign: Sign = ({ own }) => canonicalJson(own.action)

/** What only holds other steps has nothing of its own by which it could be known again. */
const restSign: Sign = ({ own: { key: _key, action: _action, ...rest }, keys }) =>
  keys.length > 0 ? undefined : canonicalJson(rest)
