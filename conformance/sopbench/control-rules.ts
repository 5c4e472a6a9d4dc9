import type { DomainTools, Leaf } from './cases.ts'
import { lookupKey } from './names.ts'
import type { Lookup, RuleBook, Ruling } from './playbook.ts'

/** Every rule is asked of a tool that answers yes or no: control flow, and nothing else. */
export function controlRules(tools: DomainTools): RuleBook {
  return (leaf) => {
    const session = tools.session[leaf.check]
    if (session !== undefined) return sessionRuling(tools, leaf)
    return verdictRuling(leaf, leaf.check)
  }
}

/** A tool whose answer is the verdict itself. */
export function verdictRuling(leaf: Leaf, tool: string): Ruling {
  const key = stepKey(leaf)
  return {
    lookups: [{ key, tool, with: inputTemplates(leaf.args), when: presence(leaf.args) }],
    when: `steps.${key}.status == 'completed' && steps.${key}.output`,
  }
}

/** A session is established: the rule holds when its tool accepts what the customer supplied. */
export function sessionRuling(tools: DomainTools, leaf: Leaf): Ruling {
  const session = tools.session[leaf.check]
  if (session === undefined) throw new TypeError(`${leaf.check} is no session check`)
  const args = Object.fromEntries(session.args.map((name) => [name, leaf.args[name] ?? name]))
  const before = session.requires
    ? sessionRuling(tools, { check: session.requires, args: leaf.args })
    : undefined
  const key = keyOf(session.tool, args)
  const lookup: Lookup = {
    key,
    tool: session.tool,
    with: inputTemplates(args),
    when: [...(before === undefined ? [] : [before.when]), ...presence(args)],
  }
  return {
    lookups: [...(before?.lookups ?? []), lookup],
    when: `steps.${key}.status == 'completed'`,
  }
}

function inputTemplates(args: Leaf['args']): Lookup['with'] {
  return Object.fromEntries(
    Object.entries(args).map(([input, name]) => [input, `{{input.${name}}}`]),
  )
}

function presence(args: Leaf['args']): readonly string[] {
  return [...new Set(Object.values(args))].map((name) => `has(input.${name})`)
}

function stepKey(leaf: Leaf): string {
  return keyOf(leaf.check, leaf.args)
}

/** The tool's name; with the names that are asked of it, where they are not its own. */
function keyOf(tool: string, args: Leaf['args']): string {
  const renamed = Object.entries(args).filter(([input, name]) => input !== name)
  return lookupKey(
    tool,
    renamed.map(([, name]) => `of_${name}`),
  )
}
