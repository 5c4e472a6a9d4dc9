/** Under which tag a run reads and curates: that of its loop, else that of its agent, else the agent's name. */
export function lessonTag({
  loopTag,
  agentTag,
  agentName,
}: {
  readonly loopTag?: string | undefined
  readonly agentTag?: string | undefined
  readonly agentName: string
}): string {
  // An empty setting is none.
  return [loopTag, agentTag].find((tag) => tag !== undefined && /\S/.test(tag)) ?? agentName
}
