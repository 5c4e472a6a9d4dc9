import { didYouMean } from '../domain/nearest-name.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import {
  isList,
  type Observation,
  type Observations,
  placePattern,
  type Scenario,
} from '../domain/scenario.ts'
import { depthOf } from '../executor/iteration.ts'
import type { Plan, PlanNode, ToolNode } from '../executor/plan.ts'
import { loopDepth } from '../executor/plan-nodes.ts'

type Path = readonly (string | number)[]

/**
 * What of a scenario does not fit a playbook, its steps by their keys: steps that are not there, results that no tool
 * of that contract gives, answers and words that the step does not take. Paths are those within the scenario.
 */
export function findMisfits(plan: Plan, scenario: Scenario): readonly Problem[] {
  const fit = new Fit(plan, scenario)
  for (const [place, given] of Object.entries(scenario.steps ?? {})) {
    const path = ['steps', place]
    const node = fit.nodeAt(place, path)
    if (node !== undefined) fit.each(given, path, (one, at) => fit.observation(node, one, at))
  }
  for (const [tool, given] of Object.entries(scenario.tools ?? {})) {
    const path = ['tools', tool]
    const node = fit.userOf(tool, path)
    if (node !== undefined) fit.each(given, path, (one, at) => fit.observation(node, one, at))
  }
  const { path = [], sent = {}, text, reason } = scenario.expect
  for (const [index, place] of path.entries()) fit.nodeAt(place, ['expect', 'path', index])
  for (const place of Object.keys(sent)) fit.sent(place, ['expect', 'sent', place])
  // The text of an `end` step is filled in, and can be anything.
  if (text !== undefined && reason !== 'ended_by_step') fit.text(text, ['expect', 'text'])
  return fit.problems
}

class Fit {
  readonly problems: Problem[] = []
  readonly #plan: Plan
  readonly #isGuided: boolean

  constructor(plan: Plan, scenario: Scenario) {
    this.#plan = plan
    this.#isGuided = scenario.mode === 'guided'
  }

  each(given: Observations, path: Path, check: (one: Observation, path: Path) => void): void {
    if (!isList(given)) check(given, path)
    else for (const [index, one] of given.entries()) check(one, [...path, index])
  }

  nodeAt(place: string, path: Path): PlanNode | undefined {
    const [, key = place, iteration = ''] = placePattern.exec(place) ?? []
    const node = this.#plan.nodes.get(key)
    if (node === undefined) {
      this.#refuse(path, `there is no step '${key}'.${didYouMean(key, this.#plan.nodes.keys())}`)
      return undefined
    }
    const rounds = node.depth + loopDepth(node)
    if (depthOf(iteration) <= rounds) return node
    const found = `'${place}' names a round in ${depthOf(iteration)} of the loops around '${key}'`
    this.#refuse(path, `${found}, and there ${rounds === 1 ? 'is' : 'are'} ${rounds || 'none'}`)
    return undefined
  }

  userOf(tool: string, path: Path): ToolNode | undefined {
    for (const node of this.#plan.nodes.values()) {
      if (node.kind === 'tool' && node.step.tool === tool) return node
    }
    const hint = didYouMean(tool, this.#plan.tools.keys())
    this.#refuse(path, `no step runs a tool '${tool}'.${hint}`)
    return undefined
  }

  observation(node: PlanNode, one: Observation, path: Path): void {
    switch (node.kind) {
      case 'tool':
        this.#result(node, one, path)
        return
      case 'ask':
        if ('answer' in one)
          this.problems.push(...node.answer.problems(one.answer, [...path, 'answer']))
        else if (!('says' in one && one.says === 'nothing')) {
          this.#refuse(path, `'${node.key}' asks: expected answer, or says: nothing`)
        }
        return
      case 'approval':
        if (!('says' in one)) {
          this.#refuse(path, `'${node.key}' is an approval: expected says`)
        }
        return
      case 'call':
        if (!('outcome' in one)) {
          this.#refuse(path, `'${node.key}' calls a procedure: expected outcome`)
        }
        return
      default:
        this.#refuse(path, `'${node.key}' (${node.kind}) asks nothing of the outside; remove it`)
    }
  }

  sent(place: string, path: Path): void {
    const node = this.nodeAt(place, path)
    if (node === undefined) return
    const sends = ['tool', 'ask', 'approval', 'call'].includes(node.kind)
    if (!sends) this.#refuse(path, `'${node.key}' (${node.kind}) sends nothing`)
  }

  text(text: string, path: Path): void {
    const known = [
      ...this.#plan.preconditions,
      ...this.#plan.rules,
      ...this.#plan.completion,
      ...[...this.#plan.nodes.values()].flatMap((node) =>
        node.kind === 'require' ? node.conditions : [],
      ),
    ].map(({ condition }) => condition.text)
    const isEnded = [...this.#plan.nodes.values()].some(
      (node) => node.kind === 'end' && node.text !== undefined,
    )
    if (known.includes(text) || isEnded) return
    this.#refuse(path, `no condition or rule has the text '${text}'.${didYouMean(text, known)}`)
  }

  #result(node: ToolNode, one: Observation, path: Path): void {
    const pinned = this.#plan.tools.get(node.step.tool)
    if ('says' in one) {
      if (!this.#isGuided) {
        this.#refuse(path, `'${node.key}' runs a tool: says is for scenarios with mode: guided`)
      } else if (pinned?.contract.effect === 'read') {
        this.#refuse(path, `'${node.key}' only reads, so nobody is asked before it`)
      }
      return
    }
    if ('fails' in one) {
      if (one.fails === 'limited' && pinned?.contract.limits.length === 0) {
        this.#refuse(path, `'${node.key}' runs a tool that has no limits`)
      }
      return
    }
    if (!('output' in one) || 'outcome' in one) {
      this.#refuse(path, `'${node.key}' runs a tool: expected output or fails`)
      return
    }
    this.problems.push(...(pinned?.output.problems(one.output, [...path, 'output']) ?? []))
  }

  #refuse(path: Path, message: string): void {
    this.problems.push({ path: pathText(path), message })
  }
}
