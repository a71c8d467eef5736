/** Looks on while a body is read, and settles its visit. Never changes anything. */
export interface Watch {
  push(bytes: Uint8Array): void
  /** The body ended cleanly; an error = but it is not complete, and the reader must not take it for an end. */
  end(): Error | undefined
  /** Why the body must not end cleanly, although its visit is settled. */
  readonly broken?: Error | undefined
}

/** For bodies that say nothing about the provider any more. */
export const noWatch: Watch = { push() {}, end: () => undefined }
