import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What a program of its own answers when its parent asks: all inputs and answers can be written as JSON. */
export type Answers = Readonly<Record<string, (input: never) => unknown>>

interface Question {
  readonly id: number
  readonly name: string
  readonly input: unknown
}

interface Reply {
  readonly id: number
  readonly value?: unknown
  readonly fault?: string
}

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

// the id under which a program says that it is there
const READY = 0

/** A program in a process of its own, on the same Node; it ends with its parent at the latest. */
export class Child<Known extends Answers> implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #name: string
  readonly #waiting = new Map<number, Waiting>()
  readonly #ended: Promise<void>
  #asked = READY

  private constructor(file: URL, args: readonly string[], execArgv: readonly string[]) {
    this.#name = fileURLToPath(file)
    this.#process = fork(file, args, {
      execArgv: [...execArgv],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#process.on('message', (reply: Reply) => this.#take(reply))
    this.#ended = new Promise((resolve) => {
      this.#process.once('exit', (code, signal) => {
        this.#fail(new Error(`${this.#name} has ended: ${signal ?? `exit code ${code}`}`))
        resolve()
      })
    })
  }

  /** Resolves once the program has called {@link answerParent}. */
  static async start<Known extends Answers>(
    file: URL,
    { args = [], execArgv = [] }: { args?: readonly string[]; execArgv?: readonly string[] } = {},
  ): Promise<Child<Known>> {
    const child = new Child<Known>(file, args, execArgv)
    await child.#reply(READY)
    return child
  }

  async ask<Name extends keyof Known & string>(
    name: Name,
    ...[input]: Parameters<Known[Name]>
  ): Promise<Awaited<ReturnType<Known[Name]>>> {
    const id = ++this.#asked
    const reply = this.#reply(id)
    this.#process.send({ id, name, input } satisfies Question)
    return (await reply) as Awaited<ReturnType<Known[Name]>>
  }

  /** Lets the program end by itself. */
  async close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect()
    await this.#ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #reply(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #take({ id, value, fault }: Reply): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (fault === undefined) waiting?.resolve(value as never)
    else waiting?.reject(new Error(`${this.#name}: ${fault}`))
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** Answers the parent of this process from now on; ends the process when the parent lets go of it. */
export function answerParent(answers: Answers): void {
  const send = (reply: Reply) => void (process.connected && process.send?.(reply))
  process.on('message', async ({ id, name, input }: Question) => {
    try {
      send({ id, value: await answers[name]?.(input as never) })
    } catch (error) {
      send({ id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.once('disconnect', () => process.exit())
  send({ id: READY })
}
