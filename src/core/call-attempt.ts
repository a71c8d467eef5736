import { Attempt } from './attempt.ts'

const isNothing = (result: unknown) => result === undefined || result === null || result === ''

/** An attempt whose answer comes in one piece. */
export class CallAttempt<Request, Result, Part> extends Attempt<Request, Result, Part, Result> {
  override begin(): void {
    this.on.timeout?.add(this)
    const invoke = this.on.options.invoke
    if (invoke === undefined) return this.fail(new TypeError(`'${this.target}' has no invoke; it can only stream.`))
    let answer: Result | PromiseLike<Result>
    try {
      answer = invoke(this.run.request, this)
    } catch (error) {
      return this.fail(error)
    }
    const promise = answer instanceof Promise ? answer : Promise.resolve(answer)
    promise.then(
      (result: Result) => this.#answered(result),
      (error: unknown) => this.fail(error),
    )
  }

  #answered(result: Result): void {
    if (this.ended) return
    const { isEmpty } = this.on.options
    const { detectSoftFailure } = this.run.gear.options
    const empty = isEmpty === undefined ? isNothing(result) : this.#asks('isEmpty', () => isEmpty(result))
    if (empty) return this.failAs('empty_response', 'ERR_EMPTY_RESPONSE')
    if (detectSoftFailure !== undefined && this.#asks('detectSoftFailure', () => detectSoftFailure(result, this))) {
      return this.failAs('soft_failure', 'ERR_SOFT_FAILURE')
    }
    this.end()
    this.run.attemptSucceeded(result)
  }

  #asks(what: string, question: () => boolean): boolean {
    let yes = false
    this.run.gear.notifier.guard(what, () => {
      yes = question() === true
    })
    return yes
  }
}
