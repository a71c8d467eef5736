import type { ComponentChildren } from 'preact'

interface NewTabProps {
  readonly href: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** A link to another page of this gateway, in a tab of its own. */
export function NewTab({ href, class: look, children }: NewTabProps) {
  return (
    // a tab that was opened by this one takes the token along in its session storage; the address never holds it
    <a href={href} class={look} target="_blank" rel="opener">
      {children}
      <span aria-hidden="true"> ↗</span>
      <span class="unseen"> (new tab)</span>
    </a>
  )
}
