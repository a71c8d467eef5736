/** What an answer that is no success says to people. */
export async function wordsOf(answer: Response): Promise<string> {
  const plain = `The gateway answered with status ${answer.status}.`
  try {
    if (answer.headers.get('content-type')?.startsWith('text/plain') === true)
      return (await answer.text()).trim()
    const { error } = (await answer.json()) as { error?: { message?: unknown } | string }
    const message = typeof error === 'string' ? error : error?.message
    return typeof message === 'string' && message !== '' ? message : plain
  } catch {
    return plain
  }
}
