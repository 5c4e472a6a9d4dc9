import type { Json } from '../../src/domain/json.ts'
import { type DatabaseConfig, isServiceError } from '../../src/index.ts'
import { type Desk, openDesk, type Run } from '../desk.ts'
import { groupBy } from '../group.ts'
import type { Recorder } from '../report.ts'
import { type Call, Stage, type World } from '../stage.ts'
import { type Case, type Domain, inputsOf } from './cases.ts'
import { controlRules } from './control-rules.ts'
import { domainTools, type Learned, learn } from './domain-tools.ts'
import { expressionRules } from './expression-rules.ts'
import { liveDomains } from './live/domains.ts'
import { liveStage } from './live/stage.ts'
import { type Playbook, playbookOf, type RuleBook } from './playbook.ts'
import { runFault } from './verdict.ts'
import { controlWorld, recordedWorld } from './worlds.ts'

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
  const tiers = tiersOf(domain, learned).filter(({ name }) =>
    recorder.wants(suite, domain.name, name),
  )
  const cases = domain.cases.filter(({ id }) => recorder.wantsCase(id))
  if (tiers.length === 0 || cases.length === 0) return
  const record = (tier: string, one: Case, failure: string | undefined) =>
    recorder.record({ suite, domain: domain.name, tier }, one.id, one.expected.outcome, failure)
  const stage = new Stage()
  const desk = await openedDesk(config, domain, learned, stage)
  if (desk instanceof Error) {
    for (const { name } of tiers) for (const one of cases) record(name, one, messageOf(desk))
    return
  }
  await using _open = desk
  for (const tier of tiers) {
    // Cases of one policy run one after the other, so that a procedure changes its version as rarely as it may.
    for (const one of [...groupBy(cases, ({ policy }) => JSON.stringify(policy)).values()].flat()) {
      record(tier.name, one, await faultOf(one, domain, learned, tier, desk, stage))
    }
  }
}

/** A domain whose tools cannot be registered fails by itself, and not the others with it. */
async function openedDesk(
  config: DatabaseConfig,
  domain: Domain,
  learned: Learned,
  stage: Stage,
): Promise<Desk | Error> {
  try {
    return await openDesk(config, domainTools(domain, learned, stage))
  } catch (error) {
    if (isServiceError(error) && error.code === 'TOOL_INVALID') return error
    throw error
  }
}

function messageOf(error: Error): string {
  const details = isServiceError(error) ? ` ${JSON.stringify(error.details)}` : ''
  return `${error.name}: ${error.message}${details}`
}

function tiersOf(domain: Domain, learned: Learned): readonly Tier[] {
  const { tools } = domain
  const live = liveDomains[domain.name]
  const rules = expressionRules(tools, learned)
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
      : [{ name: '3', mark: 'RULES', rules, stage: (one: Case) => liveStage(one, tools, live) }]),
  ]
}

async function faultOf(
  one: Case,
  domain: Domain,
  learned: Learned,
  tier: Tier,
  desk: Desk,
  stage: Stage,
): Promise<string | undefined> {
  try {
    const playbook = writePlaybook(one, domain, learned, tier)
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

function writePlaybook(one: Case, domain: Domain, learned: Learned, tier: Tier): Playbook {
  const { tools, procedures, cases, name } = domain
  const procedure = procedures.find(({ id }) => id === one.procedure)
  const goal = tools.tools[one.goal]
  if (procedure === undefined || goal === undefined) {
    throw new Error(`${one.procedure} or its goal ${one.goal} is not described`)
  }
  const requests = cases.filter((other) => other.procedure === procedure.id)
  const inputs = inputsOf(goal).map((input) => input.name)
  const given = (input: string) => requests.filter(({ goalArgs }) => Object.hasOwn(goalArgs, input))
  return playbookOf({
    procedure,
    key: procedureKey(procedure.id, tier.mark),
    category: name,
    rules: tier.rules,
    policy: one.policy,
    inputs: Object.fromEntries(
      [...learned.inputs].map(([input, shape]) => [
        input,
        { type: [...shape.kinds].map(jsonType) },
      ]),
    ),
    goalInputs: {
      always: inputs.filter((input) => given(input).length === requests.length),
      sometimes: inputs.filter((input) => {
        const count = given(input).length
        return count > 0 && count < requests.length
      }),
    },
  })
}

function jsonType(kind: string): Json {
  return kind === 'text' ? 'string' : kind === 'list' ? 'array' : kind
}

/** A key from a procedure's id, at most 64 characters: the end tells variants apart, so the middle gives way. */
function procedureKey(id: string, mark: string): string {
  const key = `${mark}_${id}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  return key.length <= 64 ? key : `${key.slice(0, 40)}_${key.slice(-23)}`
}
