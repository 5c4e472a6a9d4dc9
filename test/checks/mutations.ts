import type { RuleId } from '../../src/checks/rules.ts'
import type { Json } from '../../src/domain/json.ts'
import type { ToolContract } from '../../src/domain/tool.ts'
import {
  type Document,
  pathText,
  type ReadingText,
  readingTexts,
  stepsOf,
  withValue,
} from './definition-texts.ts'

type Contracts = ReadonlyMap<string, ToolContract>

/** A playbook with one mistake. */
export interface Mutant {
  /** Where the mistake was made. */
  readonly at: string
  readonly document: Document
  readonly contracts?: Contracts
}

export type Mutation = (document: Document, contracts: Contracts) => readonly Mutant[]

/** Changes each text of a kind by a function that answers undefined where there is nothing to change. */
function inTexts(
  kind: 'expression' | 'template' | 'both',
  change: (text: string) => string | undefined,
): Mutation {
  return (document) =>
    readingTexts(document).flatMap(({ path, kind: found, text }) => {
      const changed = kind === 'both' || kind === found ? change(text) : undefined
      if (changed === undefined || changed === text) return []
      return [{ at: pathText(path), document: withValue(document, path, changed) }]
    })
}

/** Changes each step by a function that answers other fields for it, or undefined where there is nothing to change. */
function inSteps(
  change: (step: Document, document: Document, contracts: Contracts) => object | undefined,
): Mutation {
  return (document, contracts) =>
    stepsOf(document).flatMap(({ path, step }) => {
      const fields = change(step, document, contracts)
      if (fields === undefined) return []
      const changed = Object.fromEntries(
        Object.entries({ ...step, ...fields }).filter(([, value]) => value !== undefined),
      )
      return [{ at: pathText(path), document: withValue(document, path, changed) }]
    })
}

function atTop(change: (document: Document) => object | undefined): Mutation {
  return (document) => {
    const fields = change(document)
    if (fields === undefined) return []
    const changed = { ...structuredClone(document), ...fields } as Document
    return [{ at: Object.keys(fields).join(', '), document: changed }]
  }
}

/** Changes the contract of each tool that is used. */
function inContracts(
  change: (contract: ToolContract, document: Document) => Partial<ToolContract> | undefined,
): Mutation {
  return (document, contracts) =>
    usedTools(document).flatMap((name) => {
      const contract = contracts.get(name)
      const fields = contract && change(contract, document)
      if (contract === undefined || fields === undefined) return []
      const changed = new Map(contracts).set(name, { ...contract, ...fields })
      return [{ at: `tool ${name}`, document, contracts: changed }]
    })
}

function usedTools(document: Document): readonly string[] {
  const names = stepsOf(document).flatMap(({ step }) =>
    typeof step.tool === 'string' ? [step.tool] : [],
  )
  return [...new Set(names)]
}

/** Whether the output of a step is needed, and not only asked for, behind no guard of its own. */
function isNeeded(document: Document, key: Json | undefined): boolean {
  const read = new RegExp(`steps\\.${key}\\.output`)
  return readingTexts(document).some(({ path, kind, text }) => {
    if (path[0] === 'replies' || path.at(-1) === 'say' || !read.test(text)) return false
    if (kind === 'template')
      return new RegExp(`${read.source}[^}]*\\}\\}`).test(text.replace(/ or "[^"]*"/g, '|'))
    return !new RegExp(`has\\(${read.source}|steps\\.${key}\\.status`).test(text)
  })
}

/** The texts that read a field of what a tool answers. */
function readsOf(document: Document, tool: string, field: string): readonly ReadingText[] {
  const keys = stepsOf(document).flatMap(({ step }) => (step.tool === tool ? [`${step.key}`] : []))
  const read = new RegExp(`steps\\.(?:${keys.join('|')})\\.output\\.${field}\\b`)
  return readingTexts(document).filter(({ text }) => read.test(text))
}

function replaceFirst(pattern: RegExp, by: string): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text.replace(pattern, by) : undefined)
}

/** A condition that may hold or not, and has nothing to do with what is around it. */
const byPhone = "has(ticket.channel) && ticket.channel == 'phone'"

/** Comparisons of listed values with a text that is written out. */
const comparedText = /((?:state|result|outcome|status|chosen)\s*(?:==|!=)\s*'[a-z_]+)'/
const sizeOf = (list: Json | undefined): number => (Array.isArray(list) ? list.length : 0)

function choicesOf({ choose }: Document): readonly Document[] {
  return Array.isArray(choose) ? (choose as Document[]) : []
}

/** The same steps under other keys, so that they can stand beside the first ones. */
function renamed<T extends Json>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll(/"key":"(\w+)"/g, '"key":"$1_again"'))
}

/** Mistakes of authors, of tools that change, and of careless edits. Each makes a wrong playbook of a valid one. */
export const mutations: { readonly [kind: string]: Mutation } = {
  'rename a step where it is read': inTexts('both', replaceFirst(/steps\.([a-z_]+)/, 'steps.$1x')),
  'rename a field of an output': inTexts(
    'both',
    replaceFirst(/(steps\.[a-z_]+\.output\.[A-Za-z]+)/, '$1x'),
  ),
  'rename an input where it is read': inTexts('both', replaceFirst(/(input\.[A-Za-z]+)/, '$1x')),
  'rename a constant where it is read': inTexts('both', replaceFirst(/(policy\.[A-Za-z]+)/, '$1x')),
  'rename a root': inTexts('both', replaceFirst(/\b(input|steps|policy)\./, 'x$1.')),
  'rename a step where it stands': inSteps((step, document) =>
    isNeeded(document, step.key) ? { key: `${step.key}_x` } : undefined,
  ),
  'misspell a function': inTexts('expression', replaceFirst(/\b(size|has|firstOf)\(/, '$1x(')),
  'misspell a listed value': inTexts('expression', replaceFirst(comparedText, "$1x'")),
  'misspell a value in a list': inTexts('expression', replaceFirst(/(in \['[a-z_]+)'/, "$1x'")),
  'compare a listed value with a number': inTexts(
    'expression',
    replaceFirst(/(output\.(?:state|result)) == '[a-z_]+'/, '$1 == 1'),
  ),
  'compare a number with a text': inTexts(
    'expression',
    replaceFirst(/(amountValue|done) (<=|>|==) [A-Za-z.()]+/, "$1 $2 'many'"),
  ),
  'take = for ==': inTexts('expression', replaceFirst(/ == /, ' = ')),
  'leave an operand out': inTexts('expression', (text) => `${text} &&`),
  'leave a bracket open': inTexts('both', replaceFirst(/\}\}|\)/, '')),
  'give a text for a condition': inSteps((step) =>
    step.when === undefined ? undefined : { when: "'yes'" },
  ),
  'contradict a condition': inSteps((step) =>
    step.when === undefined ? undefined : { when: `(${step.when}) && !(${step.when})` },
  ),
  'contradict a requirement': (document) =>
    stepsOf(document).flatMap(({ path, step }) =>
      (Array.isArray(step.require) ? (step.require as Document[]) : []).map(({ when }, index) => {
        const at = [...path, 'require', index, 'when']
        return { at: pathText(at), document: withValue(document, at, `(${when}) && !(${when})`) }
      }),
    ),
  'drop an argument': (document, contracts) =>
    stepsOf(document).flatMap(({ path, step }) => {
      const required = contracts.get(`${step.tool}`)?.input.required ?? ['customerId']
      return Object.keys(Object(step.with))
        .filter((name) => Array.isArray(required) && required.includes(name))
        .map((name) => {
          const at = [...path, 'with', name]
          return { at: pathText(at), document: withValue(document, at, undefined) }
        })
    }),
  'add an argument': inSteps((step) =>
    step.with === undefined ? undefined : { with: { ...Object(step.with), surplus: 1 } },
  ),
  'give an argument of another type': inSteps((step) => {
    const [name, value] = Object.entries(Object(step.with))[0] ?? []
    if (name === undefined) return undefined
    return { with: { ...Object(step.with), [name]: /policy/.test(`${value}`) ? 'text' : 7 } }
  }),
  'call a tool that is not there': inSteps((step) =>
    step.tool === undefined ? undefined : { tool: `${step.tool}s` },
  ),
  'let a step that is read be skipped': inSteps((step, document) =>
    step.when === undefined && isNeeded(document, step.key) ? { when: byPhone } : undefined,
  ),
  'let a step that is read fail': inSteps((step, document) =>
    step.tool !== undefined && step.forEach === undefined && isNeeded(document, step.key)
      ? { required: false, onError: 'continue' }
      : undefined,
  ),
  'read a step before it': (document) =>
    stepsOf(document).flatMap(({ path, step, list }) => {
      const index = Number(path.at(-1))
      const rest = list.slice(index + 1)
      const isRead = (one: Json): boolean =>
        new RegExp(`steps\\.${step.key}\\b`).test(JSON.stringify(one))
      if (!rest.some(isRead)) return []
      const others = list.filter((_, at) => at !== index)
      const reordered = withValue(document, path.slice(0, -1), [...others, list[index] ?? null])
      return [{ at: pathText(path), document: reordered }]
    }),
  'take away a step that is read': (document) =>
    stepsOf(document).flatMap(({ path, step, list }) =>
      list.length > 1 && isNeeded(document, step.key)
        ? [{ at: pathText(path), document: withValue(document, path, undefined) }]
        : [],
    ),
  'take away a tool that another requires': (document, contracts) =>
    withoutRequired(document, contracts, (path) => withValue(document, path, undefined)),
  'guard a tool that another requires': (document, contracts) =>
    withoutRequired(document, contracts, (path) => withValue(document, [...path, 'when'], byPhone)),
  'require a tool that comes later, or never': inContracts((contract, document) => {
    const last = usedTools(document).at(-1)
    if (last === undefined || last === contract.name) return undefined
    return contract.requires.includes(last) ? undefined : { requires: [last] }
  }),
  'drop a guard of a read': inTexts(
    'expression',
    replaceFirst(
      /(?:has\([^)]*\)|steps\.[a-z_]+\.(?:status == 'completed'|output\.outcome == 'resolved')) && (?=.*output)/,
      '',
    ),
  ),
  'drop the guard of a step that reads': inSteps((step) => {
    const guards = /^(?:has\((\S+)\)|steps\.([a-z_]+)\.status == 'completed')$/.exec(`${step.when}`)
    if (guards === null) return undefined
    return JSON.stringify(step.with).includes(guards[1] ?? `steps.${guards[2]}.output`)
      ? { when: undefined }
      : undefined
  }),
  'drop the fallback of a value that may be null': inTexts(
    'template',
    replaceFirst(/(etaBusinessDays|\[0\]) or "[^"]*"/, '$1'),
  ),
  'take a choice away': (document) =>
    stepsOf(document).flatMap(({ path, step }) =>
      step.otherwise === undefined
        ? choicesOf(step).flatMap((_, index) => {
            if (sizeOf(step.choose) < 2) return []
            const at = [...path, 'choose', index]
            return [{ at: pathText(at), document: withValue(document, at, undefined) }]
          })
        : [],
    ),
  'take a value out of a choice': (document) =>
    stepsOf(document).flatMap(({ path, step }) =>
      choicesOf(step).flatMap(({ when }, index) => {
        const at = [...path, 'choose', index, 'when']
        const less = `${when}`.replace(/in \['[a-z_]+', /, 'in [')
        return less === when ? [] : [{ at: pathText(at), document: withValue(document, at, less) }]
      }),
    ),
  'repeat a choice': (document) =>
    stepsOf(document).flatMap(({ path, step }) =>
      choicesOf(step).map((choice, index) => {
        const again = { ...renamed(choice), text: `${choice.text} again` }
        const choose = [...choicesOf(step)]
        choose.splice(index + 1, 0, again)
        const at = [...path, 'choose']
        return { at: pathText([...at, index]), document: withValue(document, at, choose) }
      }),
    ),
  'give two choices one text': (document) =>
    stepsOf(document).flatMap(({ path, step }) => {
      const [first, second] = choicesOf(step)
      if (first === undefined || second === undefined) return []
      const at = [...path, 'choose', 1, 'text']
      return [{ at: pathText(at), document: withValue(document, at, first.text ?? '') }]
    }),
  'end before the end': (document) =>
    stepsOf(document).flatMap(({ path, list }) => {
      const end = { key: 'ended_early', action: 'End', end: 'declined' }
      const index = Number(path.at(-1))
      const longer = [...list.slice(0, index), end, ...list.slice(index)]
      const at = path.slice(0, -1)
      return [{ at: pathText(path), document: withValue(document, at, longer) }]
    }),
  'drop the completion conditions': atTop(({ completionConditions }) =>
    completionConditions === undefined ? undefined : { completionConditions: [] },
  ),
  'let a condition be prose': (document) =>
    ['preconditions', 'completionConditions', 'escalationRules'].flatMap((field) =>
      (Array.isArray(document[field]) ? document[field] : []).map((_: Json, index: number) => {
        const at = [field, index, 'when']
        return { at: pathText(at), document: withValue(document, at, undefined) }
      }),
    ),
  'write a rule that can never hold': atTop(({ escalationRules }) => {
    const rules = Array.isArray(escalationRules) ? (escalationRules as Document[]) : []
    const [first] = rules
    if (first === undefined) return undefined
    return { escalationRules: [...rules, { text: 'Again', when: first.when }] }
  }),
  'write a rule for a step that ends nothing': atTop(({ escalationRules }) => ({
    escalationRules: [
      ...(Array.isArray(escalationRules) ? escalationRules : []),
      { text: 'x', when: 'steps.nowhere.output.x' },
    ],
  })),
  'drop issue patterns': atTop(({ issuePatterns }) => ({
    issuePatterns: Array.isArray(issuePatterns) ? issuePatterns.slice(0, 3) : [],
  })),
  'write a pattern of one word': atTop(({ issuePatterns }) => ({
    issuePatterns: [...(Array.isArray(issuePatterns) ? issuePatterns : []), 'refund'],
  })),
  'contradict an example': atTop(({ issuePatterns, examples }) => ({
    examples: {
      ...Object(examples),
      noMatch: [`Well, ${Array.isArray(issuePatterns) ? issuePatterns[0] : ''}, I think`],
    },
  })),
  'leave a constant behind': atTop(({ policy }) => ({ policy: { ...Object(policy), left: 1 } })),
  'rename a constant': atTop(({ policy }) => {
    const [[name, value] = []] = Object.entries(Object(policy))
    if (name === undefined) return undefined
    return { policy: { ...Object(policy), [name]: undefined, [`${name}Old`]: value } }
  }),
  'leave a required input behind': atTop(({ input }) => {
    const { required, properties } = Object(input)
    return {
      input: {
        ...Object(input),
        required: [...required, 'left'],
        properties: { ...properties, left: { type: 'string' } },
      },
    }
  }),
  'take the type of an input away': atTop(({ input }) => {
    const { properties } = Object(input)
    const [name = ''] = Object.keys(properties)
    return { input: { ...Object(input), properties: { ...properties, [name]: {} } } }
  }),
  'change the type of an input': atTop(({ input }) => {
    const { properties } = Object(input)
    const [name = ''] = Object.keys(properties)
    return {
      input: { ...Object(input), properties: { ...properties, [name]: { type: 'boolean' } } },
    }
  }),
  'require an input no more': atTop(({ input }) => ({ input: { ...Object(input), required: [] } })),
  'believe the text in a guard': (document, contracts) => {
    const writes = usedTools(document).some((name) => contracts.get(name)?.effect === 'write')
    const { input, preconditions } = document
    if (!writes) return []
    const { properties } = Object(input)
    const changed = {
      ...structuredClone(document),
      input: { ...Object(input), properties: { ...properties, vip: { type: 'string' } } },
      preconditions: [
        ...(Array.isArray(preconditions) ? preconditions : []),
        { text: 'A good customer', when: "has(input.vip) && input.vip == 'yes'" },
      ],
    }
    return [{ at: 'preconditions', document: changed }]
  },
  'repeat what must not be repeated': (document, contracts) =>
    stepsOf(document).flatMap(({ path, step }) => {
      const contract = contracts.get(`${step.tool}`)
      if (contract?.effect !== 'write') return []
      const changed = new Map(contracts).set(contract.name, { ...contract, idempotent: false })
      const retried = withValue(document, [...path, 'retry'], { maxAttempts: 3 })
      return [{ at: pathText(path), document: retried, contracts: changed }]
    }),
  'write without a look': (_document, contracts) => {
    const [write] = [...contracts.values()].filter(({ effect }) => effect === 'write')
    if (write === undefined) return []
    const bare = { ...write, name: 'bare_write', idempotent: false, requires: [], input: {} }
    const changed = new Map(contracts).set(bare.name, bare)
    const document = structuredClone(_document)
    const first = { key: 'bare_write', action: 'Write', tool: bare.name }
    const steps = [first, ...(Array.isArray(document.steps) ? document.steps : [])]
    return [{ at: 'steps', document: { ...document, steps }, contracts: changed }]
  },
  'poll a write': (document, contracts) =>
    stepsOf(document).flatMap(({ path, step }) => {
      if (contracts.get(`${step.tool}`)?.effect !== 'write') return []
      const poll = { every: '1m', atMost: 3, until: 'has(output)' }
      return [{ at: pathText(path), document: withValue(document, [...path, 'poll'], poll) }]
    }),
  'let a tool answer a field no more': inContracts((contract, document) => {
    const properties = Object.entries(Object(contract.output.properties))
    const read = properties.find(([name]) => readsOf(document, contract.name, name).length > 0)
    if (read === undefined) return undefined
    const left: { [name: string]: Json } = { ...Object(contract.output.properties) }
    delete left[read[0]]
    return { output: { ...contract.output, properties: left } }
  }),
  'let a tool answer null': inContracts((contract, document) => {
    const { properties } = Object(contract.output)
    const name = Object.keys(Object(properties)).find((one) =>
      readsOf(document, contract.name, one).some(({ text, path }) => {
        const isGuarded = /has\(|!= null|== null| or "/.test(text) || path[0] === 'replies'
        return !isGuarded && new RegExp(`\\boutput\\.${one}\\b (?:==|in|>|<|&&|\\|\\|)`).test(text)
      }),
    )
    if (name === undefined) return undefined
    const nullable: Json = { anyOf: [properties[name], { type: 'null' }] }
    return { output: { ...contract.output, properties: { ...properties, [name]: nullable } } }
  }),
  'let a tool answer one state more': inContracts((contract, document) => {
    const { properties } = Object(contract.output)
    const name = Object.keys(Object(properties)).find((one) => {
      const isChosen = stepsOf(document).some(({ step }) =>
        choicesOf(step).some(({ when }) =>
          stepsOf(document).some(
            ({ step: called }) =>
              called.tool === contract.name &&
              `${when}`.startsWith(`steps.${called.key}.output.${one}`),
          ),
        ),
      )
      return isChosen && Array.isArray(properties[one].enum)
    })
    if (name === undefined) return undefined
    const more = { ...properties[name], enum: [...properties[name].enum, 'novel'] }
    return { output: { ...contract.output, properties: { ...properties, [name]: more } } }
  }),
  'let a tool ask for one argument more': inContracts(({ input }) => ({
    input: {
      ...input,
      required: [...(Array.isArray(input.required) ? input.required : []), 'more'],
      properties: { ...Object(input.properties), more: { type: 'string' } },
    },
  })),
  'let a tool answer anything': inContracts(({ name }, document) => {
    const isRead = stepsOf(document).some(
      ({ step }) => step.tool === name && isNeeded(document, step.key),
    )
    return isRead ? { output: {} } : undefined
  }),
  'loop over what is no list': inSteps(({ forEach }) =>
    forEach === undefined ? undefined : { forEach: 'size(input.transactionIds)' },
  ),
  'walk fewer than there may be': inSteps(({ forEach }) =>
    forEach === undefined ? undefined : { maxItems: 10 },
  ),
  'read a round outside of its loop': (document) => {
    const loop = stepsOf(document).find(({ step }) => step.forEach !== undefined)?.step
    const [inner] = Array.isArray(loop?.steps) ? (loop.steps as Document[]) : []
    if (inner === undefined) return []
    const when = `has(steps.${inner.key}.output)`
    const conditions = [{ text: 'The round', when }]
    return [
      {
        at: 'completionConditions',
        document: { ...structuredClone(document), completionConditions: conditions },
      },
    ]
  },
  'wait for what no round changes': (document) =>
    stepsOf(document).flatMap(({ path, step }) =>
      ['repeat', 'poll'].flatMap((field) => {
        if (step[field] === undefined) return []
        const at = [...path, field, 'until']
        return [{ at: pathText(at), document: withValue(document, at, byPhone) }]
      }),
    ),
  'drop a bound': (document) =>
    stepsOf(document).flatMap(({ path, step }) =>
      ['repeat', 'poll'].flatMap((field) => {
        if (step[field] === undefined) return []
        const at = [...path, field, 'atMost']
        return [{ at: pathText(at), document: withValue(document, at, undefined) }]
      }),
    ),
  'drop a deadline': inSteps(({ deadline }) =>
    deadline === undefined ? undefined : { deadline: undefined, onDeadline: undefined },
  ),
  'remind too late': inSteps(({ ask }) => (ask === undefined ? undefined : { remind: '30d' })),
  'go on in spite of an answer that is required': inSteps((step) =>
    step.ask === undefined && step.approval === undefined
      ? undefined
      : { required: undefined, deadline: '1d', onDeadline: 'continue' },
  ),
  'name nobody in notBy': inSteps(({ approval }) =>
    approval === undefined ? undefined : { notBy: ['check_transaction'] },
  ),
  'show nothing to who approves': inSteps(({ approval }) =>
    approval === undefined ? undefined : { show: 'A refund' },
  ),
  'call a procedure that is not there': inSteps(({ call }) =>
    call === undefined ? undefined : { call: `${call}S` },
  ),
  'call itself': inSteps(({ call }, { key }) => (call === undefined ? undefined : { call: key })),
  'answer with what may not be said': atTop(() => ({
    replies: { resolved: 'You wrote: {{ticket.text}}' },
  })),
  'answer with a secret': atTop(({ input }) => {
    const { properties } = Object(input)
    return {
      input: {
        ...Object(input),
        properties: { ...properties, pin: { type: 'string', sensitive: true } },
      },
      replies: { resolved: 'Your PIN is {{input.pin}}.' },
    }
  }),
  'keep a password': inSteps((step) =>
    step.tool === undefined ? undefined : { expectedOutput: 'AKIAIOSFODNN7EXAMPLE' },
  ),
  'misspell a field': inSteps((step) => ({ requird: step.required ?? false })),
}

/** Takes away, or otherwise changes, each step with a tool without which a later one may not run. */
function withoutRequired(
  document: Document,
  contracts: Contracts,
  change: (path: readonly (string | number)[]) => Document,
): readonly Mutant[] {
  const required = new Set(
    usedTools(document).flatMap((name) => contracts.get(name)?.requires ?? []),
  )
  return stepsOf(document).flatMap(({ path, step }) => {
    const isOnly = stepsOf(document).filter((one) => one.step.tool === step.tool).length === 1
    if (!required.has(`${step.tool}`) || !isOnly || step.when !== undefined) return []
    return [{ at: pathText(path), document: change(path) }]
  })
}

/** The rules of which one must be drawn, whatever else is: a mistake is not caught by chance. */
export const drawnRules: { readonly [kind: string]: readonly RuleId[] } = {
  'rename a step where it is read': ['unknown-reference'],
  'rename a field of an output': ['unknown-reference', 'untyped'],
  'rename an input where it is read': ['unknown-reference'],
  'rename a constant where it is read': ['unknown-reference'],
  'rename a root': ['expression-syntax', 'template-syntax'],
  'rename a step where it stands': ['unknown-reference'],
  'misspell a function': ['expression-syntax'],
  'misspell a listed value': ['impossible-value'],
  'misspell a value in a list': ['impossible-value'],
  'compare a listed value with a number': ['expression-type'],
  'compare a number with a text': ['expression-type'],
  'take = for ==': ['expression-syntax'],
  'leave an operand out': ['expression-syntax'],
  'leave a bracket open': ['expression-syntax', 'template-syntax'],
  'give a text for a condition': ['expression-type'],
  'contradict a condition': ['unreachable-step'],
  'contradict a requirement': ['never-holds'],
  'drop an argument': ['missing-field'],
  'add an argument': ['unknown-field'],
  'give an argument of another type': ['expression-type'],
  'call a tool that is not there': ['tool-unknown'],
  'let a step that is read be skipped': ['unguarded-step'],
  'let a step that is read fail': ['unguarded-step'],
  'read a step before it': ['later-step'],
  'take away a step that is read': ['unknown-reference'],
  'take away a tool that another requires': ['tool-order'],
  'guard a tool that another requires': ['tool-order'],
  'require a tool that comes later, or never': ['tool-order'],
  'drop a guard of a read': ['unguarded-step'],
  'drop the guard of a step that reads': ['unguarded-step', 'unguarded-value'],
  'drop the fallback of a value that may be null': ['unguarded-value'],
  'take a choice away': ['choice-missing'],
  'take a value out of a choice': ['choice-missing'],
  'repeat a choice': ['unreachable-choice'],
  'give two choices one text': ['choice-repeated'],
  'end before the end': ['unreachable-step'],
  'drop the completion conditions': ['no-completion-condition'],
  'let a condition be prose': ['prose-only'],
  'write a rule that can never hold': ['rule-never-matches'],
  'write a rule for a step that ends nothing': ['unknown-reference'],
  'drop issue patterns': ['few-patterns'],
  'write a pattern of one word': ['loose-pattern'],
  'contradict an example': ['example-contradicted'],
  'leave a constant behind': ['unused-policy'],
  'rename a constant': ['unknown-reference'],
  'leave a required input behind': ['unused-input'],
  'take the type of an input away': ['untyped'],
  'change the type of an input': ['expression-type'],
  'require an input no more': ['unguarded-value'],
  'believe the text in a guard': ['text-sourced-guard'],
  'repeat what must not be repeated': ['retry-not-idempotent'],
  'write without a look': ['unguarded-write'],
  'poll a write': ['poll-of-write'],
  'let a tool answer a field no more': ['unknown-reference', 'untyped'],
  'let a tool answer null': ['unguarded-value'],
  'let a tool answer one state more': ['choice-missing'],
  'let a tool ask for one argument more': ['missing-field'],
  'let a tool answer anything': ['untyped'],
  'loop over what is no list': ['expression-type'],
  'walk fewer than there may be': ['loop-bound'],
  'read a round outside of its loop': ['inside-loop'],
  'wait for what no round changes': ['loop-until'],
  'drop a bound': ['definition-invalid'],
  'drop a deadline': ['no-deadline'],
  'remind too late': ['reminder-late'],
  'go on in spite of an answer that is required': ['definition-invalid'],
  'name nobody in notBy': ['not-by'],
  'show nothing to who approves': ['approval-shows-nothing'],
  'call a procedure that is not there': ['call-unknown'],
  'call itself': ['call-cycle'],
  'answer with what may not be said': ['unsayable-value'],
  'answer with a secret': ['unsayable-value'],
  'keep a password': ['secret-literal'],
  'misspell a field': ['definition-invalid'],
}
