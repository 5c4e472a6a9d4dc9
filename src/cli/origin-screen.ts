import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { RunOutput } from '../operations/execution-output.ts'
import { labelled } from './labels.ts'
import { similarityText } from './selection-screen.ts'
import type { Terminal } from './terminal.ts'
import { valueLine } from './value-line.ts'

/** Why this playbook ran, and where each value of its input came from. */
export function originLines(terminal: Terminal, run: RunOutput): readonly string[] {
  return [
    labelled(terminal, 'Chosen by', chosenByText(run.execution)),
    labelled(terminal, 'Input', inputText(run)),
  ]
}

/** What stands where a value was that is gone: nothing else may be said of it. */
export const erasedValue = 'erased'

function chosenByText({ selection, erasedAt }: RunOutput['execution']): string {
  if (selection === null) {
    return erasedAt === null ? 'the caller, by its key; nothing was searched for' : erasedValue
  }
  const { chosenBy, decision, candidates, minSimilarity, margin, model, fellBack } = selection
  const answer = decision === 'no_match' ? 'no match' : decision
  const found = candidates.map(({ procedureKey, versionNumber, similarity, literal }) => {
    const word = literal ? ', word for word' : ''
    return `${procedureKey} v${versionNumber} (${similarityText(similarity)}${word})`
  })
  // A model that was never measured has no thresholds to name.
  const bounds =
    margin === 0 ? '' : `; needed: ${minSimilarity.toFixed(2)} and a lead of ${margin.toFixed(2)}`
  const by = fellBack ? `${model}, as the model in use could not be asked` : model
  return [
    chosenBy === 'search' ? 'search' : `a person; search said ${answer}`,
    `: ${found.join(', ') || 'no candidates'}${bounds}; model ${by}`,
  ].join('')
}

function inputText({ execution, reply }: RunOutput): string {
  const { input, inputSources, erasedAt } = execution
  const reader = reply?.verification.input?.model ?? 'a model'
  const sources = {
    caller: 'from the caller',
    context: 'from the context',
    text: 'from the ticket',
    model: `from the ticket, as ${reader} read it`,
  }
  // Of what was erased the names are left.
  const values: JsonObject =
    erasedAt !== null
      ? Object.fromEntries(Object.keys(inputSources ?? {}).map((name) => [name, erasedValue]))
      : isJsonObject(input)
        ? input
        : {}
  const lines = Object.entries(values).map(([name, value]) => {
    const source = inputSources?.[name]
    return `${valueLine({ [name]: value })}${source === undefined ? '' : `  (${sources[source]})`}`
  })
  return lines.join('\n') || 'nothing'
}
