import { type DatabaseConfig, isServiceError } from '../../src/index.ts'
import { type Desk, openDesk, type Run } from '../desk.ts'
import { groupBy } from '../group.ts'
import type { Recorder } from '../report.ts'
import { type Call, Stage, type World } from '../stage.ts'
import { type Case, type Domain, flawOf } from './cases.ts'
import { controlRules } from './control-rules.ts'
import { domainTools, type Learned, learn, type Registered } from './domain-tools.ts'
import { expressionRules } from './expression-rules.ts'
import { findLiveTools, type LiveTools } from './live/domains.ts'
import { liveStage } from './live/stage.ts'
import type { RuleBook } from './playbook.ts'
import { runFault } from './verdict.ts'
import { controlWorld, recordedWorld } from './worlds.ts'
import { writePlaybook } from './write-playbook.ts'

const suite = 'sopbench'

interface Tier {
  readonly name: string
  /** Tiers with one mark share their playbooks. */
  readonly mark: string
  readonly rules: RuleBook
  /** What the tools act on, and what is wrong with it after the run, if it can be told. */
  readonly stage: (one: Case) => { readonly world: World; readonly fault?: EndFault }
}

type EndFault = (run: Run, calls: readonly Call[]) => string | undefined

/** Runs the cases of a domain in every tier that is wanted. */
export async function runDomain(
  config: DatabaseConfig,
  domain: Domain,
  recorder: Recorder,
): Promise<void> {
  const learned = learn(domain)
  const live = await liveToolsOf(domain.name)
  const tiers = tiersOf(domain, learned, live).filter(({ name }) =>
    recorder.wants(suite, domain.name, name),
  )
  const cases = domain.cases.filter(({ id }) => recorder.wantsCase(id))
  const record = (tier: string, id: string, expected: Outcome, failure: string | undefined) =>
    recorder.record({ suite, domain: domain.name, tier }, id, expected, failure)
  for (const { name } of tiers) {
    for (const { id, outcome, reason } of domain.flaws?.cases ?? []) {
      if (recorder.wantsCase(id)) record(name, id, outcome, reason)
    }
  }
  if (tiers.length === 0 || cases.length === 0) return
  const stage = new Stage()
  const registered = domainTools(domain, learned, stage)
  await using desk = await openDesk(config, registered.tools)
  for (const tier of tiers) {
    // Cases of one policy run one after the other, so that a procedure changes its version as rarely as it may.
    for (const one of [...groupBy(cases, ({ policy }) => JSON.stringify(policy)).values()].flat()) {
      const fault = await faultOf(one, domain, learned, registered, tier, desk, stage)
      record(tier.name, one.id, one.expected.outcome, fault)
    }
  }
}

type Outcome = Case['expected']['outcome']

function messageOf(error: Error): string {
  const details = isServiceError(error) ? ` ${JSON.stringify(error.details)}` : ''
  return `${error.name}: ${error.message}${details}`
}

/** A file of tools that cannot be loaded fails the cases of tier 3, with the reason. */
async function liveToolsOf(domain: string): Promise<LiveTools | Error | undefined> {
  try {
    return await findLiveTools(domain)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function tiersOf(
  domain: Domain,
  learned: Learned,
  live: LiveTools | Error | undefined,
): readonly Tier[] {
  const { tools } = domain
  const rules = expressionRules(tools, learned, (part) => flawOf(domain, part))
  return [
    {
      name: '1',
      mark: 'CONTROL',
      rules: controlRules(tools),
      stage: (one) => ({ world: controlWorld(one, tools) }),
    },
    {
      name: '2',
      mark: 'RULES',
      rules,
      stage: (one) => ({ world: recordedWorld(one, tools) }),
    },
    ...(live === undefined
      ? []
      : [
          {
            name: '3',
            mark: 'RULES',
            rules,
            stage: (one: Case) => {
              if (live instanceof Error) throw live
              return liveStage(one, tools, live)
            },
          },
        ]),
  ]
}

async function faultOf(
  one: Case,
  domain: Domain,
  learned: Learned,
  registered: Registered,
  tier: Tier,
  desk: Desk,
  stage: Stage,
): Promise<string | undefined> {
  try {
    const playbook = writePlaybook(domain, learned, one.procedure, { ...tier, policy: one.policy })
    const flaw = playbook.tools.find((tool) => registered.flaws.has(tool))
    if (flaw !== undefined) throw new Error(`${flaw}: ${registered.flaws.get(flaw)}`)
    await desk.serve(playbook.definition)
    const { world, fault } = tier.stage(one)
    stage.set(world)
    const run = await desk.start(String(playbook.definition.key), one.user)
    return stage.fault ?? runFault(one, playbook, run, stage.calls) ?? fault?.(run, stage.calls)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return messageOf(error)
  }
}
