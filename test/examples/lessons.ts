import { beginLessonRun, type Client } from '../../src/index.ts'

/** One run of an agent that learns; `answer` is the agent's own loop, `judge` whoever says how it went. */
export async function runAndLearn(
  client: Client,
  task: string,
  answer: (prompt: string) => Promise<string>,
  judge: (answer: string) => { score: number; issues: string[] },
): Promise<number | undefined> {
  const run = await beginLessonRun(client, {
    agentName: 'triage_shift_1',
    lessons: { read: true, curate: true, taskTag: 'support_triage' },
  })
  const lastAnswer = await answer(`${run.text}\n\n${task}`)
  return run.end({ feedback: judge(lastAnswer), lastAnswer })
}
